"""The pipeline as its user meets it: what reruns, and what does not."""

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from socket import gethostname
from typing import Any

import pytest

from stages.system.locks import locked
from tests.support.pages import TEXTS, rows_of
from tests.support.project import write_params
from tests.support.small_study import APART, TWO, Project, clone, small, stages_run

COLUMNS = 120  # of a terminal
GIVEN = "0514819"  # the docs' example of an experiment's hash
ROWS = rows_of(TEXTS["docs/running.md"], "| command | what it does |")
COMMANDS = ", ".join(row[0] for row in ROWS).split(", ")
BACK = re.findall(r"^(?:git restore|dvc checkout) .*", TEXTS["docs/running.md"], re.MULTILINE)
OF_A_REPORT = ("dvc exp save", "dvc commit")  # there is nothing to record before a report was made


def trained(output: str) -> list[str]:
    """The stages that DVC ran and that train."""
    return [name for name in stages_run(output) if name.startswith(("pretrain", "finetune"))]


@dataclass(frozen=True)
class Study:
    """A clone in which first an experiment ran, with rope alone, then the whole study."""

    project: Project
    experiment: str  # what they printed
    experiment_metrics: dict[str, Any]
    whole: str


@pytest.fixture(scope="module", name="study")
def study_fixture(tmp_path_factory: pytest.TempPathFactory) -> Study:
    project = clone(tmp_path_factory.mktemp("study") / "project")
    experiment = project.run("dvc", "exp", "run", "-S", "model.variant=rope")
    metrics = project.metrics()
    write_params(project.folder, small)
    return Study(project, experiment, metrics, whole=project.run("dvc", "repro"))


@pytest.fixture(name="warm")
def warm_fixture(study: Study) -> Project:
    """The clone, everything up to date, with the selection `compared`."""
    write_params(study.project.folder, small)
    return study.project


def test_an_experiment_on_a_cold_clone_trains_the_chosen_variant_only(study: Study) -> None:
    assert trained(study.experiment) == ["pretrain@quick-rope", "finetune@quick-rope"]
    assert [name for name in stages_run(study.experiment) if name.endswith("vanilla")] == []
    assert set(study.experiment_metrics["variants"]) == {"rope"}


def test_the_whole_study_then_trains_the_other_variant_only_and_reports_all(study: Study) -> None:
    assert trained(study.whole) == ["pretrain@quick-vanilla", "finetune@quick-vanilla"]
    report = study.project.folder / "reports" / "quick" / "compared"
    metrics = json.loads((report / "metrics.json").read_text(encoding="utf-8"))
    assert (metrics["recipe"], metrics["variant"]) == ("quick", "compared")
    assert all(metrics[name].keys() == {"dev_accuracy"} for name in ("baseline", "letters", "rule", "reader"))
    assert set(metrics["variants"]) == set(TWO)
    assert metrics["variants"]["rope"] == study.experiment_metrics["variants"]["rope"]


def test_a_second_repro_changes_nothing(warm: Project) -> None:
    before = warm.state()
    output = warm.run("dvc", "repro")
    assert stages_run(output) == []
    assert "up to date" in output
    assert warm.state() == before


def test_nothing_but_reports_metrics_and_locks_is_new_to_git(warm: Project) -> None:
    names = {line[3:] for line in warm.run("git", "status", "--porcelain", "--untracked-files=all").splitlines()}
    expected = re.compile(r"reports/quick/.*|(metrics|selected)\.json|(stages/)?dvc\.lock|params\.yaml")
    assert [name for name in names if not expected.fullmatch(name)] == []
    assert {"metrics.json", "selected.json", "dvc.lock", "stages/dvc.lock", "reports/quick/compared/report.md"} <= names


def test_an_experiment_trains_what_is_missing_alone_and_changes_no_comparison(warm: Project) -> None:
    output, stderr = warm.run_apart("dvc", "exp", "run", "study", "-S", "model.variant=rope")
    assert stderr == [] and {*stages_run(output)} <= {"check", "study"}
    assert set(warm.metrics()["variants"]) == {"rope"}
    output = warm.run("dvc", "exp", "run", "study", "-S", f"model.variant={APART}")
    assert [line for line in output.splitlines() if "WARNING" in line and APART not in line] == []
    assert trained(output) == [f"pretrain@quick-{APART}", f"finetune@quick-{APART}"]
    assert set(warm.metrics()["variants"]) == {APART}

    write_params(warm.folder, small)
    assert {*stages_run(warm.run("dvc", "repro"))} <= {"check", "study"}
    assert set(warm.metrics()["variants"]) == set(TWO)
    output = warm.run("dvc", "exp", "run", "study", "-S", "model.variant=all")
    assert trained(output) == []
    assert set(warm.metrics()["variants"]) == {*TWO, APART}


def test_the_commands_of_the_docs_are_quiet_in_a_warm_tree(warm: Project) -> None:
    warm.run("dvc", "remote", "add", "--local", "--default", "store", str(warm.folder.parent / "remote"))
    warm.run("dvc", "repro")  # or `dvc commit` would enter another selection's figures as those of this one
    for command in COMMANDS:
        assert warm.run_apart(*command.split())[1] == [], command


@pytest.mark.parametrize("recipe", ["quick", "entered"])
def test_the_commands_of_the_docs_speak_of_the_selection_alone_in_a_fresh_clone(
    study: Study, tmp_path: Path, recipe: str
) -> None:
    fresh = Project(tmp_path / "project")
    study.project.run("git", "clone", "--quiet", ".", str(fresh.folder))
    write_params(fresh.folder, entered, {"recipe": recipe})
    fresh.run("dvc", "remote", "add", "--local", "--default", "store", str(tmp_path))
    for command in [command for command in COMMANDS if not command.startswith(OF_A_REPORT)]:
        stderr = fresh.run_apart(*command.split())[1]
        assert len(stderr) <= 40, command
        warned = [line for line in stderr if "No file hash info" in line]
        assert [line for line in warned if not re.search("/entered['/]", line)] == [], command


def entered(content: dict[str, Any]) -> None:
    """The small study with a recipe that nobody has trained."""
    small(content)
    content["recipes"]["entered"] = content["recipes"]["quick"]
    content["study"]["asked"] = ["quick", "entered"]


def test_a_training_in_a_temporary_copy_is_that_of_the_project_and_refused_while_another_has_it(warm: Project) -> None:
    (work,) = (warm.folder / "work").glob("pretrain-quick-rope-*")
    with locked(work / "lock"):  # as another training of the same cell holds it
        command = ("dvc", "exp", "run", "--temp", "--force", "--single-item", "stages/dvc.yaml:pretrain@quick-rope")
        output = warm.run(*command, succeeds=False)
    (line,) = [line for line in output.splitlines() if line.startswith("error:")]
    holder = f"process {os.getpid()} on {gethostname()}"
    assert line.startswith(f"error: {work}: {holder} is at work here already")


def test_the_tables_of_dvc_fit_a_terminal_and_lead_back_to_an_experiment(warm: Project) -> None:
    warm.run("git", "add", "--all")
    warm.run("git", "commit", "--quiet", "--message", "Results")
    for variant in TWO:
        warm.run("dvc", "exp", "run", "study", "--name", f"{variant}-alone", "-S", f"model.variant={variant}")
    shown = warm.run("dvc", "metrics", "show")
    assert "dev_accuracy" in shown and TWO[-1] in shown
    changed = warm.run("dvc", "metrics", "diff")
    experiments = warm.run("dvc", "exp", "show", "--only-changed", "--drop", r".*/|.*\.yaml")
    for variant in TWO:
        assert variant in experiments
    assert max(len(line) for table in (shown, changed, experiments) for line in table.splitlines()) <= COLUMNS
    first = f"{TWO[0]}-alone"
    (revision,) = re.findall(rf"(\w+) \[{first}\]", warm.run("dvc", "exp", "list"))
    for command in BACK:
        assert warm.run_apart(*command.replace(GIVEN, revision).split())[1] == []
    assert set(warm.metrics()["variants"]) == {TWO[0]}
    assert "up to date" in warm.run("dvc", "status", "--with-deps", "study")


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


def test_the_ablation_trains_each_change_once_and_never_asks_dev(warm: Project) -> None:
    page = "stages/ablation/dvc.yaml:ablation"
    *changes, last = [name for name in stages_run(warm.run("dvc", "repro", page)) if name.startswith("ablat")]
    assert (sorted(changes), last) == (["ablate@dropout", "ablate@full"], "ablation")
    report = (warm.folder / "reports/quick/ablation/report.md").read_text(encoding="utf-8")
    assert "answers 5 questions held out of the training" in report
    assert stages_run(warm.run("dvc", "repro", page)) == []
    quick = "recipes.quick."  # on these no training depends
    write_params(warm.folder, small, {f"{quick}report.dev_asked_before": 3, f"{quick}seeds": [1, 2]})
    assert stages_run(warm.run("dvc", "repro", page)) == ["check"]


def test_pushed_models_answer_in_another_clone_that_trains_nothing(warm: Project, tmp_path: Path) -> None:
    warm.run("dvc", "remote", "add", "--default", "class", str(tmp_path / "results"))
    warm.run("git", "add", "--all")
    warm.run("git", "commit", "--quiet", "--message", "Models for the class")
    warm.run("dvc", "push", "--remote", "class", "--with-deps", "study")  # other tests have a remote of their own
    warm.run("git", "clone", "--quiet", "--bare", ".", str(tmp_path / "project.git"))

    warm.run("git", "clone", "--quiet", str(tmp_path / "project.git"), str(tmp_path / "project"))
    fresh = Project(tmp_path / "project")
    fresh.run("dvc", "pull", "--with-deps", "study")
    ask = ("python", "-m", "stages", "ask", "Where was Elizabeth Jones born?", "--variant", "rope")
    assert fresh.run_apart(*ask) == warm.run_apart(*ask)
    assert trained(fresh.run("dvc", "repro")) == []


def test_a_recipe_without_questions_is_trained_when_it_is_asked_for(warm: Project) -> None:
    output = warm.run("dvc", "repro", "stages/dvc.yaml:pretrain@text-vanilla")
    assert stages_run(output) == ["text", "prepare@text", "pretrain@text-vanilla"]
    assert trained(warm.run("dvc", "repro")) == []
