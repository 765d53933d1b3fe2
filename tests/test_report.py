"""The stage `report`: its folder as the reader finds it, and its figures at the project's root."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import html5lib
import pytest

from stages import report
from tests.support.example import PLACES, probe_tables, reported, write_baseline, write_variant
from tests.support.project import environment, write_params
from tests.support.talking import Outcome, Run, error
from tests.support.tiny import ROOT

FILES = {
    "report.md", "index.html", "metrics.json", "accuracy.svg", "loss.svg", "predictions.tsv", "curves.csv",
    "accuracy.csv", "extraction.svg", "extraction.csv",
}  # fmt: skip
BOTH = ["vanilla", "rope"]
NONE, HALF, MOST = [0] * 10, [1] * 5 + [0] * 5, [1] * 8 + [0] * 2


@pytest.fixture
def evaluations(tmp_path: Path) -> Path:
    folder = tmp_path / "evaluations"
    write_baseline(folder)
    write_variant(folder, "vanilla", (NONE, NONE), (HALF, HALF))
    write_variant(folder, "rope", (NONE, [1] + [0] * 9), (MOST, MOST))
    return folder


def page_of(evaluations: Path, *variants: str, **settings: Any) -> str:
    """report.md of the variants."""
    return (reported(evaluations, *variants, **settings) / "report.md").read_text(encoding="utf-8")


def test_the_folder_holds_every_variant_sorted_by_name(evaluations: Path) -> None:
    target = reported(evaluations, *BOTH)
    first = {path.name: path.read_bytes() for path in target.iterdir()}
    assert first.keys() == FILES
    header, *answers = (target / "predictions.tsv").read_text().splitlines()
    assert header == "variant\tsplit\trow\tseed\tinit\tquestion\tgold\tpredicted\tcorrect\tprobability"
    assert [line.split("\t")[0] for line in answers] == ["rope"] * 44 + ["vanilla"] * 44
    assert answers[0] == "rope\tdev\t1\t1\tscratch\tWhere was Person 1 born?\tBergen\tNowhere\t0\t0.50"
    assert answers[43] == "rope\ttest\t1\t2\tpretrained\tWhere was Tam born?\t\tRome\t\t0.10"
    rows = (target / "accuracy.csv").read_text().splitlines()
    assert rows[:2] == ["model,variant,init,accuracy", '"rope, scratch",rope,scratch,5.0'] and len(rows) == 5
    reported(evaluations, *BOTH)
    assert first == {path.name: path.read_bytes() for path in target.iterdir()}  # the same input, the same bytes


def test_the_page_has_its_sections_in_order_the_best_variant_first_and_a_caption_below_each_figure(
    evaluations: Path,
) -> None:
    page = page_of(evaluations, *BOTH)
    assert [line[3:] for line in page.splitlines() if line.startswith("## ")] == [
        "Differences between variants", "Memorised and extracted", "Errors", "Learning curves", "How it was made"
    ]  # fmt: skip
    assert page.index("| rope | 80.0 (") < page.index("| vanilla | 50.0 (")
    assert "| rope | 2 | 3,290,624 | 0.1235 | 0.2 | 1,234.6 | fedcba9876 |" in page  # 10 and 20 seconds
    assert "| rope, vanilla | 0123456789 | cpu | float32 | compiled | python 3.11.7, torch 2.13.0 |" in page
    shown = re.findall(r"^!\[.+\]\((.+)\)\n\n\*(.{20,}\.)\*\n\n", page, re.MULTILINE)
    assert [name for name, _ in shown] == ["accuracy.svg", "extraction.svg", "loss.svg"]
    tree = html5lib.parse((evaluations.parent / "report/index.html").read_text(), namespaceHTMLElements=False)
    captions = [" ".join("".join(caption.itertext()).split()) for caption in tree.iter("figcaption")]
    assert captions == [caption for _, caption in shown]


def test_changed_code_other_machines_and_looks_at_dev_are_reported(evaluations: Path) -> None:
    plain = page_of(evaluations, *BOTH)
    assert "not all trained at one commit" not in plain and "Earlier looks" not in plain
    for other in ({"device": "cpu of another kind"}, {"precision": "bfloat16"}):
        write_variant(evaluations, "rope", (NONE,), (MOST,), provenance=other)
        assert "not all trained at one commit" in page_of(evaluations, *BOTH)
    made = {"commit": "f00000000000000+", "kernels": "torch", "device": "cpu of another kind", "precision": "bfloat16"}
    write_variant(evaluations, "rope", (NONE,), (MOST,), provenance=made)
    page = page_of(evaluations, "rope", dev_asked_before=7)
    assert "while this recipe was developed: 7." in page and "Differences between" not in page
    assert "| rope | f000000000+ | cpu of another kind | bfloat16 | torch's |" in page


def test_a_page_on_held_out_questions_says_so_first_and_has_no_public_runs(evaluations: Path) -> None:
    assert "## Public runs" not in page_of(evaluations, *BOTH)  # another recipe
    assert "](public.svg)" in page_of(evaluations, *BOTH, recipe="handout")
    write_baseline(evaluations, held_out=10)
    page = page_of(evaluations, *BOTH, recipe="handout", dev_asked_before=7)
    assert page.split("\n\n")[1].startswith("**A run to choose by.** 10 questions held out")
    assert "Earlier looks at dev" not in page and "## Public runs" not in page


def test_the_command_that_makes_the_page_names_the_folder_of_own_data(evaluations: Path) -> None:
    page = page_of(evaluations, "rope", recipe="own", own_folder="my élèves")
    command = "dvc exp run -S recipe=own -S model.variant=rope -S 'recipes.own.seeds=[1, 2]'"
    assert f"`{command} -S 'sources.own.folder=\"my élèves\"'`" in page


def test_without_a_fact_there_is_no_section_and_no_table_of_dashes(evaluations: Path) -> None:
    write_variant(evaluations, "rope", (NONE,), (HALF,), probes=probe_tables(facts=0))
    page = page_of(evaluations, "rope")
    assert "emorised" not in page.partition("## Errors")[0] and "](extraction.svg)" not in page


def test_hidden_questions_are_nowhere_in_the_folder(evaluations: Path) -> None:
    # no prediction names a gold place either, nor is the text on offsets there, which quotes a question's beginning
    write_variant(evaluations, "rope", (NONE, NONE), (NONE, NONE), probes=probe_tables(offsets={}))
    for path in reported(evaluations, "rope", show_questions=False).iterdir():
        content = path.read_text(encoding="utf-8")
        for secret in ("Where was", "Person", *PLACES):
            assert secret not in content, path.name


def evaluated(folder: Path) -> None:
    """A project in which rope, the only variant compared, answers everything after pretraining."""
    write_params(folder, values={"model.compared": ["rope"]})
    evaluations = folder / "data/evaluations/quick/compared"
    write_baseline(evaluations)
    write_variant(evaluations, "rope", ([0] * 10,), ([1] * 10,))
    (folder / "data/baseline").mkdir()
    (evaluations / "baseline").rename(folder / "data/baseline/quick")


def test_the_figures_reach_the_root_and_are_printed(tmp_path: Path, run_in: Run) -> None:
    evaluated(tmp_path)
    printed = run_in(tmp_path, report).out
    of_report = tmp_path / "reports/quick/compared/metrics.json"
    assert (tmp_path / "metrics.json").read_bytes() == of_report.read_bytes()
    assert json.loads((tmp_path / "metrics/report.json").read_text()) == {"low": 72.247, "high": 100}
    (row,) = [line.split() for line in printed.splitlines() if line.startswith("rope")]
    assert row == ["rope", "0.0", "100.0", "72.25", "100.0"]  # Wilson: 10 / (10 + 3.8415)


def test_where_says_where_the_selected_report_lies_and_writes_nothing(tmp_path: Path, run_in: Run) -> None:
    write_params(tmp_path, values={"recipe": "open", "model.variant": "rope"})
    assert error(run_in(tmp_path, report, "--where")) == "error: reports/open/rope has no report; `dvc repro` makes it"
    page = tmp_path / "reports/open/rope/index.html"
    page.parent.mkdir(parents=True)
    page.touch()
    printed = "report: reports/open/rope/report.md, for a browser: reports/open/rope/index.html\n"
    assert run_in(tmp_path, report, "--where") == Outcome(0, printed, "")
    assert {path.name for path in tmp_path.iterdir()} == {"params.yaml", "reports"}
    assert [*(tmp_path / "reports").rglob("*.*")] == [page]


@pytest.mark.parametrize("backend", ["nonsense", "module://absent.backend_inline"])
def test_pictures_are_drawn_whatever_backend_a_notebook_left_in_the_environment(tmp_path: Path, backend: str) -> None:
    evaluated(tmp_path)
    settings = environment(PYTHONPATH=str(ROOT), MPLBACKEND=backend)
    command = [sys.executable, "-m", "stages.report"]
    ended = subprocess.run(command, cwd=tmp_path, env=settings, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert (tmp_path / "reports/quick/compared/accuracy.svg").exists()
