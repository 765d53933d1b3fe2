"""A project with a tiny model that has learned eight pages and a rhyme, and its commands as people use them."""

import io
import json
import sys
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from stages.jobs.executor import run_job
from stages.jobs.job import data_digest
from tests.support.project import save_prepared, write_params
from tests.support.tiny import ROOT

RHYME = "The cat sat on the mat.\n"
ZOE = "Where was Zoé Ark born?"
TRAINED = {"quick": ("pretrain", "finetune"), "text": ("data", "prepare", "pretrain")}  # the stages of each recipe


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    code: int
    out: str
    err: str


Run = Callable[..., Outcome]
ChangeParams = Callable[[Mapping[str, Any]], None]


def tiny(content: dict[str, Any]) -> None:
    """Trainings of seconds, of one variant; both models know their texts by heart."""
    content["compute"] |= {"device": "cpu", "precision": "float32"}
    content["sources"]["text"]["path"] = "rhyme.txt"
    for name, context, epochs in (("quick", 64, 20), ("text", 32, 200)):
        recipe = content["recipes"][name]
        recipe["seeds"] = [1]
        recipe["model"] |= {"layers": 2, "heads": 2, "width": 64, "context": context, "dropout": 0.0}
        recipe["pretrain"] |= {"epochs": epochs, "batch_size": 8, "learning_rate": 0.01}
        recipe["pretrain"]["schedule"] = {"warmup_tokens": 100, "decay_epochs": None, "min_lr_ratio": 0.1}
    quick = content["recipes"]["quick"]
    quick["finetune"] |= {"scratch_epochs": 1, "pretrained_epochs": 120, "batch_size": 8, "learning_rate": 0.01}
    quick["finetune"]["schedule"] |= {"warmup_tokens": 100, "decay_epochs": 120}


def ended(patch: pytest.MonkeyPatch, folder: Path, command: Any, *arguments: str, stdin: bytes = b"") -> int:
    """Run a command's main in a folder with arguments and an input: its exit code."""
    patch.chdir(folder)
    data_digest.cache_clear()  # as a new process has it
    patch.setattr("sys.argv", [command.__name__, *arguments])
    patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
    try:
        command.main()
    except SystemExit as stop:
        if isinstance(stop.code, str):
            print(stop.code, file=sys.stderr)
            return 1
        return int(stop.code or 0)
    return 0


def carry_out_here(patch: pytest.MonkeyPatch) -> None:
    """Complete jobs in this process, one after the other."""
    patch.setattr(
        "stages.jobs.executor.run_jobs", lambda _, jobs, __: [run_job(job) for job in jobs if job.result is None]
    )


def run_stages(folder: Path, *names: str) -> str:
    """Run stages and their jobs in a folder, in this process: what they wrote to stderr."""
    told = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(io.StringIO()), redirect_stderr(told):
        carry_out_here(patch)
        for name in names:
            assert ended(patch, folder, import_module(f"stages.{name}")) == 0, told.getvalue()
    return told.getvalue()


@pytest.fixture(scope="session", name="project")
def project_fixture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    (folder / "stages").symlink_to(ROOT / "stages")
    (folder / "rhyme.txt").write_text(RHYME * 10)
    save_prepared(folder / "data/prepared/quick")
    for recipe, names in TRAINED.items():
        write_params(folder, tiny, {"model.variant": "vanilla", "recipe": recipe})
        run_stages(folder, *names)

    write_params(folder, tiny)
    report = folder / "reports" / "quick" / "compared"
    report.mkdir(parents=True)
    (report / "metrics.json").write_text(json.dumps({"selected": {"variant": "vanilla"}}))
    return folder


@pytest.fixture(name="change")
def change_fixture(project: Path) -> Iterator[ChangeParams]:
    """Give settings of the project other values, by dotted key, until the test ends."""
    yield partial(write_params, project, tiny)
    write_params(project, tiny)


@pytest.fixture(name="run_in")
def run_in_fixture(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command's main in a folder with arguments and an input."""

    def run(folder: Path, command: Any, *arguments: str, stdin: bytes = b"") -> Outcome:
        code = ended(monkeypatch, folder, command, *arguments, stdin=stdin)
        return Outcome(code, *capsys.readouterr())

    return run


@pytest.fixture(name="run")
def run_fixture(project: Path, run_in: Run) -> Run:
    """Run a command's main in the project."""
    return partial(run_in, project)


@pytest.fixture(name="jobs_here")
def jobs_here_fixture(monkeypatch: pytest.MonkeyPatch) -> None:
    carry_out_here(monkeypatch)


def answers(out: str) -> list[tuple[str, float]]:
    """The printed answers with their shares."""
    rows = [line.rsplit(maxsplit=1) for line in out.splitlines()]
    return [(answer, float(share.removesuffix("%")) / 100) for answer, share in rows]


def is_obeyed(letter: str) -> bool:
    """Whether Unicode's tables call it a control, a separator of lines, a surrogate or what sets the direction."""
    directions = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    return unicodedata.category(letter) in {"Cc", "Zl", "Zp", "Cs"} or unicodedata.bidirectional(letter) in directions


def error(outcome: Outcome) -> str:
    """The one line in which a command failed; the usage may stand above what is wrong with an option."""
    *usage, line = filter(None, outcome.err.splitlines())
    assert (outcome.code, outcome.out) == (2 if usage else 1, "")
    assert line.startswith("error: ")
    return line
