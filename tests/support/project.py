"""A project folder of its own, in which stages run as their user runs them: with own settings, in own processes."""

import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import yaml

from stages.corpus.prepared import Prepared
from tests.support.tiny import ROOT, params, tiny_prepared

TWO = ["vanilla", "rope"]  # another variant goes the same way and takes seconds each time
APART = "nope"  # known, but not among those compared
GONE = object()  # in the place of a value: its key goes


def write_params(
    folder: Path, change: Callable[[dict[str, Any]], None] | None = None, values: Mapping[str, Any] | None = None
) -> None:
    """Write the committed settings, changed and then with these values by dotted key, as the folder's params.yaml."""
    content = params()
    if change:
        change(content)
    for key, value in (values or {}).items():
        *path, last = key.split(".")
        section = reduce(getitem, path, content)
        section[last] = value
        if value is GONE:
            del section[last]
    (folder / "params.yaml").write_text(yaml.safe_dump(content, allow_unicode=True, sort_keys=False), encoding="utf-8")


def small(content: dict[str, Any]) -> None:
    """A study of seconds: two recipes of a tiny model, two variants compared, a third known, one epoch, one seed."""
    content["recipes"] = {name: content["recipes"][name] for name in ("quick", "text", "pairs")}
    content["model"] |= {"compared": TWO}
    content["variants"] = {name: content["variants"][name] for name in [*TWO, APART]}
    content["compute"] |= {"device": "cpu", "precision": "float32", "checkpoint_seconds": 20.0}
    content["sources"]["synthetic"]["people"] = {"train": 40, "dev": 20, "test": 10}
    for recipe in content["recipes"].values():
        recipe["seeds"] = [1]
        recipe["model"] |= {"layers": 2, "heads": 2, "width": 32}
        recipe["pretrain"]["epochs"] = 1
        recipe["pretrain"]["schedule"] = {"warmup_tokens": 0, "decay_epochs": None, "min_lr_ratio": 0.1}
    content["recipes"]["quick"]["finetune"] |= {"scratch_epochs": 1, "pretrained_epochs": 1}


def contents(folder: Path) -> dict[Path, bytes]:
    """All files of a folder."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def save_prepared(folder: Path, prepared: Prepared | None = None) -> None:
    """Save prepared data as the stage does; those of the invented corpus by default."""
    (prepared or tiny_prepared()).save(folder)


@contextmanager
def restored(folder: Path) -> Iterator[None]:
    """Whatever happens to a folder while the block runs, it has the same files afterwards."""
    kept = folder.with_name(f"{folder.name}.kept")
    shutil.copytree(folder, kept, symlinks=True)
    try:
        yield
    finally:
        shutil.rmtree(folder)
        kept.rename(folder)


@contextmanager
def limited(resources: int, most: int) -> Iterator[None]:
    """This process can take no more than that (resource.RLIMIT_…) while the block runs."""
    soft, hard = resource.getrlimit(resources)
    resource.setrlimit(resources, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resources, (soft, hard))


def copy_stages(folder: Path) -> None:
    """Copy the code, so that a change of the original meanwhile does not matter."""
    shutil.copytree(ROOT / "stages", folder / "stages", ignore=shutil.ignore_patterns("__pycache__"))


def environment(**settings: str) -> dict[str, str]:
    """The environment of a stage's process: one thread, this interpreter's commands first."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return {**os.environ, "PATH": path, "OMP_NUM_THREADS": "1", "PYTHONPATH": "", **settings}


def hears_signals() -> None:
    """Heed Ctrl-C and a hangup in a process about to start: in the background, or under nohup, it would not."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def start(folder: Path, module: str, *arguments: str, threads: int = 1) -> subprocess.Popen[str]:
    """Start `python -m <module>` in the folder."""
    return subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        cwd=folder,
        env=environment(OMP_NUM_THREADS=str(threads)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=hears_signals,
    )
