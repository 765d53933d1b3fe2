"""What ended trainings left in a folder of work, published together. No torch: loading it takes a second."""

from collections.abc import Sequence
from pathlib import Path

from stages.experiment.provenance import settings_digest
from stages.system.digests import result_folder
from stages.system.files import read_json, write_bytes, write_json
from stages.system.locks import locked

SUFFIXES = ("json", "csv", "safetensors")  # facts, curve and weights of an ended training
ORIGIN = ("vocabulary_sha256", "commit", "device", "precision", "kernels", "libraries")  # of a training's facts


def files_of(work: Path, name: str) -> list[Path]:
    """Return the files that the training `name` leaves when it has ended."""
    return [work / f"{name}.{suffix}" for suffix in SUFFIXES]


def publish(work: Path, names: Sequence[str], seeds: Sequence[int], output: Path) -> None:
    """Replace the folder `output` by the results of these trainings, what they depend on and where they come from."""
    facts = [read_json(work / f"{name}.json") for name in names]
    settings = facts[-1]["settings"] | {"seeds": [*seeds]}
    provenance = {
        "settings": settings,
        "params_sha256": settings_digest(settings),
        "seconds": round(sum(training["seconds"] for training in facts), 1),
        **{key: facts[-1][key] for key in ORIGIN},
    }

    with locked(work / "lock"), result_folder(output) as folder:
        for name in names:
            for path in files_of(work, name):
                write_bytes(folder / path.name, path.read_bytes())  # shutil.copy names the source if disks are full
        write_json(folder / "provenance.json", provenance)
