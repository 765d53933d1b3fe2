"""The pipeline as its user meets it: what is trained, what is not, and that DVC's plain commands do as they say."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.project import write_params
from tests.support.small_study import APART, TWO, Project, clone, small, stages_run

COLUMNS = 100  # of a terminal
MOST_WARNINGS = 3  # of outputs that are yet to be made
WITH_JOBS = ("pretrain", "finetune", "evaluate")
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
IN_COLUMNS = ("dvc dag", "dvc metrics", "dvc exp show")


def jobs_of(*variants: str, seed: int = 1) -> set[str]:
    """All jobs of variants of recipe quick."""
    return {f"{stage}-quick-{variant}-{seed}" for stage in WITH_JOBS for variant in variants}


def warnings(stderr: list[str]) -> list[str]:
    return [line for line in stderr if "WARNING" in line]


@dataclass(frozen=True)
class Study:
    """A clone in which first an experiment ran, with rope alone, then the whole study."""

    project: Project
    stderr: list[str]  # of the experiment
    jobs: set[str]  # that it carried out
    metrics: dict[str, Any]  # that it wrote


@pytest.fixture(scope="module", name="study")
def study_fixture(tmp_path_factory: pytest.TempPathFactory) -> Study:
    project = clone(tmp_path_factory.mktemp("study") / "project")
    _, stderr = project.run_apart("dvc", "exp", "run", "-S", "model.variant=rope")
    study = Study(project, stderr, project.jobs(), project.metrics())
    write_params(project.folder, small)
    project.run("dvc", "repro")
    project.run("dvc", "commit", "--force")  # of the studies' pages, which git has
    project.run("git", "add", "--all")
    project.run("git", "commit", "--quiet", "--message", "Results")
    project.run("dvc", "remote", "add", "--local", "--default", "store", str(project.folder.parent / "remote"))
    return study


@pytest.fixture(name="warm")
def warm_fixture(study: Study) -> Iterator[Project]:
    """The clone, everything up to date, with the selection `compared`; and again after the test."""
    yield study.project
    study.project.run("git", "checkout", "--quiet", ".")
    study.project.run("dvc", "checkout", "--force")


@contextmanager
def carries_out(project: Project, *jobs: str) -> Iterator[None]:
    """In the block these jobs are carried out, and no others."""
    before = project.jobs()
    yield
    assert project.jobs() - before == {*jobs}


def test_an_experiment_on_a_cold_clone_trains_the_chosen_variant_only(study: Study) -> None:
    assert study.jobs == jobs_of("rope")
    assert {*study.metrics["variants"]} == {"rope"}


def test_the_whole_study_then_trains_the_other_variant_only_and_reports_all(study: Study) -> None:
    assert study.project.jobs() == jobs_of(*TWO)
    report = study.project.folder / "reports" / "quick" / "compared"
    metrics = json.loads((report / "metrics.json").read_text(encoding="utf-8"))
    assert (metrics["recipe"], metrics["variant"]) == ("quick", "compared")
    assert {*metrics["variants"]} == {*TWO}
    assert metrics["variants"]["rope"] == study.metrics["variants"]["rope"]


def test_a_second_repro_changes_nothing(warm: Project) -> None:
    before = warm.state()
    output = warm.run("dvc", "repro")
    assert stages_run(output) == []
    assert "up to date" in output
    assert warm.state() == before


def test_nothing_but_reports_metrics_and_the_lock_is_new_to_git(warm: Project) -> None:
    names = warm.run("git", "show", "--name-only", "--format=").splitlines()
    expected = re.compile(r"reports/quick/.*|metrics\.json|metrics/\w+\.json|(stages/\w+/)?dvc\.lock|params\.yaml")
    assert [name for name in names if not expected.fullmatch(name)] == []
    assert {"metrics.json", "metrics/evaluate.json", "dvc.lock", "reports/quick/compared/report.md"} <= {*names}


@pytest.mark.parametrize("command", PLAIN)
def test_the_plain_commands_end_well_and_quietly(warm: Project, command: str) -> None:
    output, stderr = warm.run_apart(*command.split())
    assert warnings(stderr) == [], command
    assert "up to date" in output or command != "dvc status"
    if command.startswith(IN_COLUMNS):
        assert max(map(len, output.splitlines()), default=0) <= COLUMNS


def test_an_experiment_trains_what_is_missing_alone_and_the_way_back_nothing(warm: Project) -> None:
    with carries_out(warm):
        _, stderr = warm.run_apart("dvc", "exp", "run", "--name", "again", "-S", "model.variant=rope")
    assert len(warnings(stderr)) <= MOST_WARNINGS
    with carries_out(warm, *jobs_of(APART)):
        _, stderr = warm.run_apart("dvc", "exp", "run", "--name", "apart", "-S", f"model.variant={APART}")
    assert len(warnings(stderr)) <= MOST_WARNINGS
    assert {*warm.metrics()["variants"]} == {APART}
    with carries_out(warm):
        warm.run("dvc", "exp", "run", "-S", "model.variant=all")
    assert {*warm.metrics()["variants"]} == {*TWO, APART}
    for command in ("dvc status", "dvc metrics show"):  # as quiet and narrow with all variants
        output, stderr = warm.run_apart(*command.split())
        assert warnings(stderr) == []
        assert not command.startswith(IN_COLUMNS) or max(map(len, output.splitlines()), default=0) <= COLUMNS

    warm.run_apart("dvc", "exp", "apply", "apart")
    assert {*warm.metrics()["variants"]} == {APART}
    with carries_out(warm):
        output = warm.run("dvc", "exp", "run", "-S", "model.variant=compared")
    assert "Stage 'pretrain' is cached - skipping run" in output
    assert {*warm.metrics()["variants"]} == {*TWO}


def test_a_recipe_without_questions_is_trained_when_it_is_asked_for(warm: Project) -> None:
    with carries_out(warm, "pretrain-text-vanilla-1"):
        warm.run("dvc", "exp", "run", "pretrain", "-S", "recipe=text", "-S", "model.variant=vanilla")
    with carries_out(warm):
        warm.run("dvc", "exp", "run", "-S", "recipe=quick", "-S", "model.variant=compared")


def test_a_temporary_copy_trains_a_further_seed_alone_in_the_projects_work(warm: Project) -> None:
    with carries_out(warm, *jobs_of("rope", seed=2)):
        warm.run("dvc", "exp", "run", "--temp", "-S", "model.variant=rope", "-S", "recipes.quick.seeds=[1,2]")


def test_the_plots_of_dvc_have_the_curves_and_a_bar_for_each_model(warm: Project) -> None:
    shown = warm.run("dvc", "plots", "show", "--json")
    plots = json.loads(shown[shown.index("{") :])
    assert not plots.get("errors")
    curves, bars = (plots["data"][name][0]["content"]["data"]["values"] for name in ("Loss", "Accuracy"))
    assert {(row["variant"], row["phase"]) for row in curves} == {
        (variant, phase) for variant in TWO for phase in ("pretrain", "finetune_scratch", "finetune_pretrained")
    }
    models = [f"{variant}, {init}" for variant in TWO for init in ("scratch", "pretrained")]
    assert sorted(row["model"] for row in bars) == sorted(models)


def test_pushed_models_answer_in_another_clone_that_trains_nothing(warm: Project, tmp_path: Path) -> None:
    warm.run("dvc", "push")
    warm.run("git", "clone", "--quiet", ".", str(tmp_path / "project"))
    fresh = Project(tmp_path / "project")
    fresh.run("dvc", "remote", "add", "--default", "class", str(warm.folder.parent / "remote"))
    fresh.run_apart("dvc", "pull")
    ask = ("python", "-m", "stages", "ask", "Where was Elizabeth Jones born?", "--variant", "rope")
    assert fresh.run_apart(*ask) == warm.run_apart(*ask)
    assert stages_run(fresh.run("dvc", "repro")) == []
    output = fresh.run("dvc", "exp", "run", "-S", "model.variant=rope")  # a part of what was pulled
    assert "pretrain: jobs done before: 1 of 1" in output and "finetune: jobs done before: 1 of 1" in output
