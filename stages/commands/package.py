"""A trained cell as one file for others: its data, its weights with their settings, and all digests."""

import io
import zipfile
import zlib
from pathlib import Path
from tempfile import TemporaryDirectory

from stages.corpus.prepared import Prepared
from stages.experiment.cell import check_is_made
from stages.experiment.experiment import STAGES, Experiment
from stages.settings import QuestionRecipe, Settings
from stages.system.digests import SUMS, intact
from stages.system.errors import StudyError
from stages.system.files import folder_hash, write_bytes


def pack(experiment: Experiment, seed: int | None, target: Path) -> None:
    """Write a cell's data and weights to the file `target`; seed: the only one to write, None: all.

    Raises StudyError: the cell is not trained, is damaged, or was trained with other settings than today's.
    """
    folders = folders_of(experiment)
    for folder, stage in folders.items():
        check_is_made(folder, stage)
    check(experiment, Path())
    if seed is not None:
        experiment.check_seed(seed)
        for folder, stage in folders.items():
            if folder.name in STAGES and not [*folder.glob(f"*seed-{seed}.safetensors")]:
                raise StudyError(f"{folder} has no seed {seed}; train it with: dvc repro stages/dvc.yaml:{stage}")

    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as package:
        for folder in folders:
            for file in sorted(folder.iterdir()):
                if seed is None or "seed-" not in file.name or f"seed-{seed}." in file.name:
                    package.write(file, file.as_posix())
    write_bytes(target, content.getvalue())


def unpack(settings: Settings, source: Path) -> Experiment:
    """Put the cell in the file `source` into its place, and return it.

    Raises StudyError, and changes nothing: the file is damaged or no package, the cell has other settings than today's,
    or a folder of it is here already with other content.
    """
    with TemporaryDirectory(prefix=".unpacked-", dir=".") as name:
        root = Path(name)
        try:
            with zipfile.ZipFile(source) as package:
                package.extractall(root)
            (weights,) = root.glob("data/weights/*/*")
        except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, RuntimeError) as error:  # some: it is encrypted
            raise StudyError(f"{source} is damaged, or `python -m stages pack` did not write it") from error
        experiment = Experiment.of(settings, weights.parent.name, weights.name)
        check(experiment, root)

        new = []
        for folder in folders_of(experiment):
            if not folder.exists():
                new.append(folder)
            elif folder_hash(folder) != folder_hash(root / folder):
                raise StudyError(f"{folder} is here already, with other content; move it away first")
        for folder in new:
            folder.parent.mkdir(parents=True, exist_ok=True)
            (root / folder).rename(folder)
    return experiment


def folders_of(experiment: Experiment) -> dict[Path, str]:
    """Return the folders of a package, each with the stage that makes it."""
    name = experiment.recipe_name
    folders = {experiment.prepared_folder: f"prepare@{name}"}
    for kind, stage in STAGES.items():
        if kind == "pretrained" or isinstance(experiment.recipe, QuestionRecipe):
            folders[experiment.weights_folder / kind] = f"{stage}@{name}-{experiment.variant}"
    return folders


def check(experiment: Experiment, root: Path) -> None:
    """Raise StudyError unless a cell's files are as they were written, and with today's settings."""
    folders = folders_of(experiment)
    for folder in folders:
        files = [file for file in (root / folder).iterdir() if file.name != SUMS]
        if not intact(root / folder / SUMS, *files):
            raise StudyError(f"{folder} is damaged")
    prepared = Prepared.load(root / experiment.prepared_folder)
    for folder in folders:
        if folder.name in STAGES:
            experiment.check_weights(root / folder, prepared.vocabulary)
