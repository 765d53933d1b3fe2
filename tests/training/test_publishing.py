"""Results are published together or not at all, and a disk that refuses them is told by the name of the target."""

import errno
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from stages.errors import command
from stages.files import write_json
from stages.model.mixers import settings_of
from stages.training.experiment import Experiment
from stages.training.run import Run, run
from tests.tiny import FLOAT32, HANDOUT, SETTINGS, VARIANTS

SEEDS = [1, 2]
OUTPUT = Path("data/weights/handout/vanilla/pretrained")
PUBLISHED = [f"seed-{seed}.{suffix}" for seed in SEEDS for suffix in ("csv", "json", "safetensors")]


@pytest.fixture(name="publish")
def publish_fixture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[int]]:
    """A stage in a folder of its own; gives the seeds that were still to be trained."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("__main__.__file__", str(tmp_path / "main.py"), raising=False)  # as in a stage's process
    monkeypatch.setattr("stages.training.run.go_apart", lambda experiment: False)
    (tmp_path / "prepared").mkdir()
    (tmp_path / "prepared" / "file").write_text("some")
    recipe = HANDOUT.model_copy(update={"seeds": SEEDS})
    section = settings_of(VARIANTS[0], SETTINGS.variants, recipe.model)
    experiment = Experiment("handout", VARIANTS[0], recipe, section, FLOAT32, checkpoint_seconds=20.0)

    def publish() -> list[int]:
        trained = []

        def train_seed(work: Run, seed: int) -> None:
            if (work.work / f"seed-{seed}.json").exists():
                return
            trained.append(seed)
            (work.work / f"seed-{seed}.safetensors").write_bytes(bytes(1000 * seed))
            (work.work / f"seed-{seed}.csv").write_text("loss\n")
            write_json(work.work / f"seed-{seed}.json", {"seconds": 1.0})

        run("pretrain", experiment, {"epochs": 3}, OUTPUT, Path("prepared"), train_seed=train_seed)
        return trained

    return publish


def no_space_for_the_fourth(disk: pytest.MonkeyPatch) -> str:
    """Of each training two files were written before."""
    calls = iter(range(100))

    def full(descriptor: int) -> None:
        if str(OUTPUT.parent) in os.readlink(f"/proc/self/fd/{descriptor}") and next(calls) == 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    disk.setattr("os.fsync", full)
    return rf"error: {OUTPUT}/seed-\d\.\w+: No space left on device"


def read_only(disk: pytest.MonkeyPatch) -> str:
    def refuse(dir: Path, prefix: str) -> str:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), f"{dir}/{prefix}abcdefgh")

    disk.setattr(tempfile, "mkdtemp", refuse)
    return rf"error: {OUTPUT}: Read-only file system"


def no_rename(disk: pytest.MonkeyPatch) -> str:
    rename = os.replace

    def refuse(source: Path, target: Path) -> None:
        if Path(source).is_dir():
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(source), None, str(target))
        rename(source, target)

    disk.setattr("os.replace", refuse)
    return rf"error: {OUTPUT}: No space left on device"


@pytest.mark.parametrize("refusing", [no_space_for_the_fourth, read_only, no_rename])
def test_a_disk_that_refuses_the_results_is_told_by_their_name_and_costs_nothing(
    publish: Callable[[], list[int]], refusing: Callable[[pytest.MonkeyPatch], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as disk:
        told = refusing(disk)
        with pytest.raises(SystemExit, match=rf"\A{told}\Z"):
            command(lambda: publish() and None)()
    assert list(OUTPUT.parent.iterdir()) == []  # nothing half-written
    (work,) = Path("work").iterdir()
    assert {*PUBLISHED} <= {path.name for path in work.iterdir()}

    assert publish() == []  # nothing is trained anew
    assert sorted(path.name for path in OUTPUT.iterdir()) == sorted(["provenance.json", *PUBLISHED])
    assert [len((OUTPUT / f"seed-{seed}.safetensors").read_bytes()) for seed in SEEDS] == [1000, 2000]
    assert list(Path("work").iterdir()) == []


def test_results_published_before_stay_when_new_ones_cannot_be_written(
    publish: Callable[[], list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    OUTPUT.mkdir(parents=True)
    (OUTPUT / "seed-1.safetensors").write_text("before")
    with monkeypatch.context() as disk:
        no_space_for_the_fourth(disk)
        with pytest.raises(OSError, match="No space left"):
            publish()
    assert [path.name for path in OUTPUT.parent.iterdir()] == [OUTPUT.name]
    assert (OUTPUT / "seed-1.safetensors").read_text() == "before"
