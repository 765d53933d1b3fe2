"""The pipeline as its user meets it: what is trained, what is not, and that DVC's plain commands do as they say."""

import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.project import APART, TWO, contents, environment, small, write_params
from tests.support.tiny import ROOT

COLUMNS = 100  # of a terminal
IN_COLUMNS = ("dvc dag", "dvc metrics", "dvc exp show")
MOST_WARNINGS = 3  # of outputs that are yet to be made
# Commands without a target, in an order in which they can follow one another
PLAIN = [
    "dvc status",
    "dvc dag",
    "dvc dag --mermaid",
    "dvc metrics show",
    "dvc metrics diff",
    "dvc plots show",
    "dvc exp show --only-changed --drop .*/",
    "dvc exp save",
    "dvc commit --force",
    "dvc checkout",
    "dvc push",
    "dvc pull",
    "dvc gc --workspace --force --quiet",
]


@dataclass(frozen=True)
class Project:
    """A clone of the project, with DVC's own files beside it."""

    folder: Path

    def run(self, command: str, warnings: int | None = None) -> str:
        """What a command prints that succeeds without the user's own settings; warnings: how many there may be."""
        beside = self.folder.parent
        someone = {f"GIT_{who}_{what}": "a@b.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        dvcs = {f"DVC_{name}_DIR": str(beside / name) for name in ("SITE_CACHE", "GLOBAL_CONFIG", "SYSTEM_CONFIG")}
        settings = environment(DVC_NO_ANALYTICS="1", GIT_CONFIG_GLOBAL="/dev/null", **dvcs, **someone)
        words = shlex.split(command)
        ended = subprocess.run(words, cwd=self.folder, env=settings, capture_output=True, text=True, timeout=900)
        assert ended.returncode == 0, (command, ended.stdout, ended.stderr)
        assert warnings is None or ended.stderr.count("WARNING") <= warnings, (command, ended.stderr)
        if command.startswith(IN_COLUMNS):
            assert max(map(len, ended.stdout.splitlines()), default=0) <= COLUMNS, command
        return ended.stdout + ended.stderr

    def metrics(self) -> dict[str, Any]:
        """metrics.json of the root."""
        return json.loads((self.folder / "metrics.json").read_text(encoding="utf-8"))

    def jobs(self) -> set[str]:
        """The jobs that were carried out: their stages, recipes, variants and seeds."""
        return {path.name.rpartition("-")[0] for path in (self.folder / "work").glob("*-*")}

    @contextmanager
    def carries_out(self, *jobs: str) -> Iterator[None]:
        """In the block these jobs are carried out, and no others."""
        before = self.jobs()
        yield
        assert self.jobs() - before == {*jobs}


def jobs_of(*variants: str, seed: int = 1) -> set[str]:
    """All jobs of variants of recipe quick."""
    stages = ("pretrain", "finetune", "evaluate")
    return {f"{stage}-quick-{variant}-{seed}" for stage in stages for variant in variants}


def seen(folder: Path) -> dict[Path, bytes]:
    """Every file that a person or git sees."""
    return {
        path: content
        for path, content in contents(folder).items()
        if not {".git", ".dvc", "__pycache__", "dvc_plots"} & {*path.parts}
    }


@pytest.fixture(scope="module", name="project")
def project_fixture(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A clone in which first an experiment ran, with rope alone, then the whole study, whose results are committed."""
    project = Project(tmp_path_factory.mktemp("study") / "project")
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]  # what git knows or would add
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file() and not name.startswith("tests/"):
            (project.folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, project.folder / name)
    write_params(project.folder, small)
    for command in ("git init --quiet", "git add --all", "git commit --quiet --message Small"):
        project.run(command)

    with project.carries_out(*jobs_of("rope")):
        project.run("dvc exp run -S model.variant=rope")
    alone = project.metrics()["variants"]
    assert {*alone} == {"rope"}
    write_params(project.folder, small)
    with project.carries_out(*jobs_of(*TWO) - jobs_of("rope")):
        project.run("dvc repro")
    report = project.folder / "reports" / "quick" / "compared"
    metrics = json.loads((report / "metrics.json").read_text(encoding="utf-8"))
    assert (metrics["recipe"], metrics["variant"]) == ("quick", "compared")
    assert {*metrics["variants"]} == {*TWO} and metrics["variants"]["rope"] == alone["rope"]

    project.run("dvc commit --force")  # of the studies' pages, which git has
    for command in ("git add --all", "git commit --quiet --message Results"):
        project.run(command)
    project.run(f"dvc remote add --local --default store {project.folder.parent / 'remote'}")
    return project


def test_an_experiment_then_the_study_train_what_is_missing_and_only_reports_metrics_and_locks_are_new_to_git(
    project: Project,
) -> None:
    names = project.run("git show --name-only --format=").splitlines()
    expected = re.compile(r"reports/quick/.*|metrics\.json|metrics/\w+\.json|(stages/\w+/)?dvc\.lock|params\.yaml")
    assert [name for name in names if not expected.fullmatch(name)] == []
    assert {"metrics.json", "metrics/evaluate.json", "dvc.lock", "reports/quick/compared/report.md"} <= {*names}


@pytest.mark.parametrize(("name", "ignored"), [("work", True), (".venv", True), ("dvc.lock", False)])
def test_git_ignores_links_to_another_disk_and_no_lock_of_dvc_whatever_its_user_ignores(
    tmp_path: Path, name: str, ignored: bool
) -> None:
    shutil.copy(ROOT / ".gitignore", tmp_path)
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    (tmp_path / "ignored").write_text("*.lock\n")
    (tmp_path / name).symlink_to(tmp_path.parent)
    command = ["git", "-c", "core.excludesFile=ignored", "check-ignore", "--quiet", name]
    assert subprocess.run(command, cwd=tmp_path).returncode == (0 if ignored else 1)


def test_a_second_repro_changes_nothing_and_the_plain_commands_end_well_and_quietly(project: Project) -> None:
    before = seen(project.folder)
    assert "up to date" in project.run("dvc repro", warnings=0)
    assert seen(project.folder) == before
    for command in PLAIN:
        output = project.run(command, warnings=0)
        assert "Running stage" not in output and ("up to date" in output or command != "dvc status")


def test_the_plots_of_dvc_have_the_curves_and_a_bar_for_each_model(project: Project) -> None:
    shown = project.run("dvc plots show --json")
    plots, _ = json.JSONDecoder().raw_decode(shown, shown.index("{"))
    assert not plots.get("errors")
    curves, bars = (plots["data"][name][0]["content"]["data"]["values"] for name in ("Loss", "Accuracy"))
    assert {(row["variant"], row["phase"]) for row in curves} == {
        (variant, phase) for variant in TWO for phase in ("pretrain", "finetune_scratch", "finetune_pretrained")
    }
    models = [f"{variant}, {init}" for variant in TWO for init in ("scratch", "pretrained")]
    assert sorted(row["model"] for row in bars) == sorted(models)


def test_pushed_models_answer_in_another_clone_that_trains_nothing(project: Project, tmp_path: Path) -> None:
    project.run("dvc push", warnings=0)
    project.run(f"git clone --quiet . {tmp_path / 'project'}")
    fresh = Project(tmp_path / "project")
    fresh.run(f"dvc remote add --default class {project.folder.parent / 'remote'}")
    fresh.run("dvc pull", warnings=0)
    assert "%" in fresh.run("python -m stages ask 'Where was Elizabeth Jones born?' --variant rope")
    assert "Running stage" not in fresh.run("dvc repro")
    output = fresh.run("dvc exp run -S model.variant=rope", warnings=MOST_WARNINGS)  # a part of what was pulled
    assert "pretrain: jobs done before: 1 of 1" in output and "finetune: jobs done before: 1 of 1" in output


def test_an_experiment_trains_what_is_missing_alone_and_the_way_back_nothing(project: Project) -> None:
    with project.carries_out("pretrain-quick-rope-2"):  # in a temporary copy, but kept in the project's work/
        project.run("dvc exp run --temp pretrain -S model.variant=rope -S recipes.quick.seeds=[1,2]")
    with project.carries_out(*jobs_of(APART)):
        project.run("dvc exp run --name every -S model.variant=all", warnings=MOST_WARNINGS)
    assert {*project.metrics()["variants"]} == {*TWO, APART}
    for command in ("dvc status", "dvc metrics show"):  # as quiet and narrow with all variants
        project.run(command, warnings=0)

    with project.carries_out("pretrain-text-vanilla-1"):  # a recipe without questions is trained when it is asked for
        project.run("dvc exp run pretrain -S recipe=text -S model.variant=vanilla")
    with project.carries_out():
        output = project.run("dvc exp run -S recipe=quick -S model.variant=compared")
    assert "Stage 'pretrain' is cached - skipping run" in output
    assert {*project.metrics()["variants"]} == {*TWO}
    project.run("dvc exp apply every")
    assert {*project.metrics()["variants"]} == {*TWO, APART}
