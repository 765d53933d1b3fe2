"""A trained cell as one file, to hand to others: its data, its weights with their settings, the digests of all."""

import io
import zipfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from stages.corpus.prepared import Prepared
from stages.experiment.cell import check_is_made
from stages.experiment.experiment import STAGES, Experiment
from stages.settings import QuestionRecipe, Settings
from stages.system.digests import SUMS, intact
from stages.system.errors import StudyError
from stages.system.files import folder_hash, write_bytes

MOST_BYTES = 2**32  # that a package unpacks to; no cell comes near


def pack(experiment: Experiment, seed: int | None, target: Path) -> None:
    """Write a cell's data and weights to the file `target`; seed: whose weights alone, None: those of all seeds.

    Raises StudyError: the cell is not trained, is damaged, or was trained with other settings than today's.
    """
    name = experiment.recipe_name
    folders = {experiment.prepared_folder: f"prepare@{name}"}
    for kind, stage in STAGES.items():
        if kind == "pretrained" or isinstance(experiment.recipe, QuestionRecipe):
            folders[experiment.weights_folder / kind] = f"{stage}@{name}-{experiment.variant}"
    for folder, stage in folders.items():
        check_is_made(folder, stage)
    check(experiment, Path(), list(folders))
    if seed is not None:
        experiment.check_seed(seed)

    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as package:
        for folder in folders:
            for file in sorted(folder.iterdir()):
                if seed is None or "seed-" not in file.name or f"seed-{seed}." in file.name:
                    package.write(file, file.as_posix())
    write_bytes(target, content.getvalue())


def unpack(settings: Settings, source: Path) -> Experiment:
    """Put the cell that the file `source` has in its place: the cell.

    Raises StudyError: the file is damaged or no package, the cell has other settings than today's, or something of it
    is here already. Then nothing is changed.
    """
    with TemporaryDirectory(prefix=".unpacked-", dir=".") as root:
        try:
            with zipfile.ZipFile(source) as package:
                experiment, folders = contents(settings, package, source)
                package.extractall(root)
        except (zipfile.BadZipFile, EOFError, ValueError, NotImplementedError) as error:
            raise StudyError(f"{source} is damaged, or `python -m stages pack` did not write it") from error
        check(experiment, Path(root), folders)

        new = []
        for folder in folders:
            if not folder.exists():
                new.append(folder)
            elif folder_hash(folder) != folder_hash(root / folder):
                raise StudyError(f"{folder} is here already, with other content; move it away first")
        for folder in new:
            folder.parent.mkdir(parents=True, exist_ok=True)
            (root / folder).rename(folder)
    return experiment


def contents(settings: Settings, package: zipfile.ZipFile, source: Path) -> tuple[Experiment, Sequence[Path]]:
    """Say which cell a package has, and in which folders. Raises ValueError: it has anything else."""
    if sum(member.file_size for member in package.infolist()) > MOST_BYTES:
        raise ValueError("too large")
    folders = list(dict.fromkeys(PurePosixPath(name).parent for name in package.namelist()))
    cells = [folder.parts[2:4] for folder in folders if folder.name in STAGES]
    recipe, variant = cells[0] if cells else ("", "")
    weights = PurePosixPath("data/weights", recipe, variant)
    allowed = {PurePosixPath("data/prepared", recipe), *(weights / kind for kind in STAGES)}
    if not cells or not {*folders} <= allowed:
        raise ValueError("other files")
    if recipe not in settings.recipes or variant not in settings.variants:
        raise StudyError(f"{source} has the cell {recipe}-{variant}, which params.yaml does not know")
    return Experiment.of(settings, recipe, variant), [Path(folder) for folder in folders]


def check(experiment: Experiment, root: Path, folders: Sequence[Path]) -> None:
    """Let a cell pass whose files are as they were written, with today's settings. Raises StudyError."""
    for folder in folders:
        files = [file for file in sorted((root / folder).iterdir()) if file.name != SUMS]
        if not intact(root / folder / SUMS, *files):
            raise StudyError(f"{folder} is damaged")
    prepared = Prepared.load(root / experiment.prepared_folder)
    for folder in folders:
        if folder.name in STAGES:
            experiment.check_weights(root / folder, prepared.vocabulary)
