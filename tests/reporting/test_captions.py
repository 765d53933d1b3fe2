"""Every figure of a report says how it is to be read, in the page for a browser and in the Markdown."""

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import html5lib
import pytest

from stages.reporting.ablation.page import write_page
from stages.reporting.folder import write_report
from stages.reporting.sections.knowledge import knowledge_part
from stages.reporting.sections.saliency import saliency_part
from stages.reporting.sections.shifts import shifts_part
from stages.settings import Ablation
from tests.reporting.ablation.test_page import ablated
from tests.reporting.example import SHOWN, write_baseline, write_variant
from tests.reporting.sections.probe import write_probe

HALF, MOST = [1] * 5 + [0] * 5, [1] * 8 + [0] * 2
RECIPE = "handout"  # has published figures in a picture
REPORT = {
    "accuracy", "differences", "pretraining", "confidence", "loss", "knowledge", "shifts", "saliency",
    "saliency_attention",
}  # fmt: skip


def write_all(folder: Path, seeds: int) -> Path:
    """A report with every section; the folder that it is in."""
    variants = ["rope", "vanilla"]
    write_baseline(folder / "evaluations", 10, 10.0)
    for variant, right in zip(variants, (MOST, HALF), strict=True):
        write_variant(folder / "evaluations", variant, [[0] * 10] * seeds, [right] * seeds)
        write_probe(folder / "probes", variant)
    parts = [
        knowledge_part(folder / "probes", variants),
        shifts_part(folder / "probes", variants),
        saliency_part(folder / "probes", variants),
    ]
    made = [part for part in parts if part]
    write_report(folder / "evaluations", folder / "report", RECIPE, "compared", variants, settings=SHOWN, parts=made)
    return folder / "report"


def write_ablation(folder: Path) -> Path:
    """The page of an ablation; the folder that it is in."""
    changes = {"full": {}, "adamw": {"optimizer": {}}}
    settings = Ablation(recipe="open", variant="rope", seed=1, held_out=200, shortened={}, changes=changes)
    write_page(folder / "ablation", settings, [ablated("full", 160), ablated("adamw", 120)])
    return folder / "ablation"


@pytest.mark.parametrize(
    ("write", "names"),
    [
        (lambda folder: write_all(folder, 2), REPORT),
        (lambda folder: write_all(folder, 1), REPORT),
        (write_ablation, {"ablation"}),
    ],
    ids=["seeds", "one seed", "ablation"],
)
def test_every_figure_has_a_caption(write: Callable[[Path], Path], names: set[str], tmp_path: Path) -> None:
    folder = write(tmp_path)
    lines = (folder / "report.md").read_text(encoding="utf-8").splitlines()
    shown = {re.findall(r"\]\((\w+)\.svg\)$", line)[0]: place for place, line in enumerate(lines) if "![" in line}
    assert set(shown) == names == {path.stem for path in folder.glob("*.svg")}
    captions = {name: lines[place + 2] for name, place in shown.items()}
    for name, place in shown.items():
        assert lines[place + 1] == "" and lines[place + 3] == "", name
        assert re.fullmatch(r"\*[A-Z].{20,}\.\*", captions[name]), name
    assert max(Counter(captions.values()).values()) == 1
    page = html5lib.parse((folder / "index.html").read_text(encoding="utf-8"), namespaceHTMLElements=False)
    figures = list(page.iter("figure"))
    assert len(figures) == len(names)
    words = " ".join("".join(page.itertext()).split())
    for figure in figures:
        (caption,) = figure.iter("figcaption")
        said = " ".join("".join(caption.itertext()).split())
        assert said and words.count(said) == 1
    assert not [each for each in page.iter("em") if len("".join(each.itertext())) > 60]


def test_results_in_captions_are_those_of_the_data(tmp_path: Path) -> None:
    text = (write_all(tmp_path, 2) / "report.md").read_text(encoding="utf-8")
    assert "a dot a single seed" in text and "answering London every time" in text
    assert "The bands show the range" in text
    dark = int(re.findall(r"(\d) of 3 are blue", text)[0])
    table = text.partition("| higher | lower |")[2].partition("\n\n")[0]
    assert dark == table.count("| yes |")
