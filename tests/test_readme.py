"""What the README shows step by step is done here literally, in a clone."""

import csv
import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from stages.costing.measurement import Job, count
from stages.model.registry import settings_of
from stages.reporting.published import published
from tests.project import write_params
from tests.test_pipeline import Project, clone, small, stages_run, trained
from tests.tiny import BUILT_IN, ROOT, SETTINGS

README = (ROOT / "README.md").read_text(encoding="utf-8")
NOTES = (ROOT / "reports/notes.md").read_text(encoding="utf-8")


def blocks(heading: str) -> list[tuple[str, str]]:
    """The fenced blocks of a section: language and content."""
    section = re.search(rf"^### {re.escape(heading)}\n(.*?)^##", README, re.MULTILINE | re.DOTALL)
    assert section
    return re.findall(r"^```(\w+)\n(.*?)^```$", section[1], re.MULTILINE | re.DOTALL)


def add(there: Any, new: Any) -> Any:
    """The settings with new entries: lists get longer, sections get keys."""
    if isinstance(new, list):
        return [*there, *new]
    if isinstance(new, dict):
        return there | {key: add(there[key], value) if key in there else value for key, value in new.items()}
    raise AssertionError(f"{there!r} is there already")


CONTRACT = (
    "test_no_input_changes_logits_before_it",
    "test_cached_generation_equals_full_forward",
    "test_cached_generation_is_as_exact_as_the_full_forward_in_bfloat16",
    "test_every_parameter_gets_a_gradient",
)  # of a variant: some of it


@pytest.fixture(scope="module", name="project")
def project_fixture(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return clone(tmp_path_factory.mktemp("readme") / "project")


def test_a_variant_is_added_as_the_readme_says(project: Project) -> None:
    (_, code), (_, settings), (_, commands) = blocks("Add your own variant")
    name = re.match(r"# (stages/mixers/(\w+)\.py)\n", code)
    assert name
    path, variant = Path(name[1]), name[2]
    (project.folder / path).write_text(code, encoding="utf-8")

    def grown(content: dict[str, Any]) -> None:
        small(content)
        content["compute"]["precision"] = "bfloat16"  # as where processors or GPUs multiply it fast
        content |= add(content, yaml.safe_load(settings))

    write_params(project.folder, grown)
    for folder in ("tests", "pyproject.toml"):
        target = project.folder / folder
        if (ROOT / folder).is_dir():
            shutil.copytree(ROOT / folder, target, ignore=shutil.ignore_patterns("__pycache__"))
        elif not target.exists():
            shutil.copy(ROOT / folder, target)
    test, experiment = commands.splitlines()
    output = project.run(*test.split(), "-vv")
    for name in CONTRACT:
        assert re.search(rf"::{name}\[.*{variant}.*\] PASSED", output), name
    output = project.run(*experiment.split())
    assert trained(output) == [f"pretrain@quick-{variant}", f"finetune@quick-{variant}"]
    assert [stage for stage in stages_run(output) if stage.endswith(("rope", "vanilla"))] == []
    assert set(project.metrics()["variants"]) == {variant}


def test_a_text_of_ones_own_is_modelled_as_the_readme_says(project: Project) -> None:
    text = "The cat sat on the mat, and the mat lay flat. "
    (project.folder / "my.txt").write_text(200 * text, encoding="utf-8")
    write_params(project.folder, small)
    beginnings = ("dvc exp run -S sources.text", "python -m stages.sample --recipe text")
    lines = [line for line in README.splitlines() if line.startswith(beginnings)]
    training, *samples = [shlex.split(line, comments=True) for line in lines]
    assert trained(project.run(*training)) == ["pretrain@text-vanilla"]
    assert len(samples) == 3
    for command in samples:
        assert set(project.run(*command)) <= {*text, *"\n□⁇"}  # hardly trained, it may draw any of its vocabulary


def rows_of(header: str) -> list[list[str]]:
    """The cells of the table whose header begins so, without links and emphasis."""
    lines = README[README.index(header) :].partition("\n\n")[0].splitlines()[2:]
    plain = [re.sub(r"\[(.*?)\]\(.*?\)|\*\*", r"\1", line) for line in lines]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in plain]


def figures(recipe: str, variant: str, selection: str) -> dict[str, Any]:
    """A variant's figures in a report's metrics.json."""
    path = ROOT / "reports" / recipe / selection / "metrics.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["variants"][variant]
    return found


def interval(found: dict[str, Any]) -> str:
    """As the tables write it."""
    return f"{found['dev_accuracy']:.1f} % ({found['dev_accuracy_low']:.1f} to {found['dev_accuracy_high']:.1f})"


def test_the_table_of_results_has_the_figures_of_the_reports() -> None:
    recipe, rows = "", rows_of("| recipe | variant |")
    for first, name, seeds, scratch, pretrained, typical, best in rows:
        recipe = first.partition("`")[2].partition("`")[0] or recipe
        variant = name.partition(",")[0]
        found = figures(recipe, variant, "compared" if recipe == "quick" else variant)
        assert (seeds, scratch) == (str(found["seeds"]), f"{found['scratch_dev_accuracy']:.1f} %"), name
        assert pretrained == interval(found), name
        others = published(recipe, 0, variant, "pretrained")
        assert (typical, best) == ((f"{others.typical} %", f"{others.high} %") if others else ("", "")), name
    assert {"open", "handout", "quick"} == {row[0].partition("`")[2].partition("`")[0] for row in rows} - {""}


def test_the_shifts_are_those_of_the_report() -> None:
    rows = list(csv.DictReader((ROOT / "reports/handout/compared/shifts.csv").read_text(encoding="utf-8").splitlines()))
    share = {(row["variant"], row["weights"], int(row["shift"])): f"{100 * float(row['spelled']):.0f}" for row in rows}

    def both(weights: str, shift: int, *variants: str) -> list[str]:
        return [share[variant, weights, shift] for variant in variants]

    def told(variant: str) -> tuple[str, ...]:
        return share[variant, "pretrained", 1], share[variant, "pretrained", 0]

    text, two, others = " ".join(NOTES.split()), ("rope", "vanilla"), ("synthesizer", "perceiver")
    first = "the pretrained synthesizer spells {} % with a single space before the page and {} % without"
    assert first.format(*told("synthesizer")) in text
    for variant in ("perceiver", *two):
        assert "{} {} and {} %".format(variant, *told(variant)) in text
    ten = "vanilla falls to {} %, too, and rope, which knows distances only, to {} %"
    assert ten.format(*both("pretrained", 10, "vanilla", "rope")) in text
    for names in (two, others):
        after = "({} and {} %; without them {} and {} %)"
        assert after.format(*both("finetuned", 10, *names), *both("finetuned", 0, *names)) in text


def test_the_cost_of_vanilla_and_perceiver_is_that_of_the_report() -> None:
    rows = list(csv.DictReader((ROOT / "reports/quick/compared/cost.csv").read_text(encoding="utf-8").splitlines()))
    took = {row["variant"]: 1e3 * float(row["training_seconds"]) for row in rows if row["length"] == "4096"}
    model = SETTINGS.recipes["quick"].model.model_copy(update={"context": 4096})
    sections = {name: settings_of(name, SETTINGS.variants, model) for name in took}
    counted = {name: count(Job(name, sections[name], model, SETTINGS.compute)) / 1e6 for name in took}
    text = " ".join(README.split())
    assert "{vanilla:,.0f} and {perceiver:,.0f} million multiply-adds".format(**counted) in text
    assert "a forward and backward pass of {vanilla:.0f} and {perceiver:.0f} ms".format(**took) in text


def test_the_table_of_all_variants_has_the_figures_of_its_report() -> None:
    rows = rows_of("| variant | parameters | dev")
    for name, parameters, pretrained, loss in rows:
        found = figures("quick", name, "all")
        assert (parameters, loss) == (f"{found['parameters']:,}", f"{found['pretrain_loss']:.4f}"), name
        assert pretrained == interval(found), name
    assert {row[0] for row in rows} == set(BUILT_IN)


def anchors(page: str) -> set[str]:
    """What links may name in a page: its headings as GitHub writes them."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```$", "", page, flags=re.MULTILINE | re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", ["README.md", "reports/notes.md"])
def test_links_lead_somewhere(name: str) -> None:
    page = ROOT / name
    links = re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", page.read_text(encoding="utf-8"))
    assert links
    for path, anchor in links:
        target = page.parent / path if path else page
        assert target.is_file(), (path, anchor)
        assert not anchor or anchor in anchors(target.read_text(encoding="utf-8")), (path, anchor)
