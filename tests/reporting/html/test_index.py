"""The page as a parser finds it: whole, alone, harmless, and silent where questions are not to be shown."""

import json
from collections.abc import Sequence
from typing import Any
from xml.etree.ElementTree import Element

import html5lib
import pandas as pd
import pytest

from stages.reporting.folder import write_report
from stages.reporting.html.index import answers_data, render_index
from stages.reporting.markdown import Markdown, table
from stages.reporting.template import Part
from tests.support.example import SHOWN, probe_tables, write_baseline, write_variant

NONE, HALF = [0] * 10, [1] * 5 + [0] * 5
HOSTILE = "</script><!--<script>alert(1)</script><img src=x onerror=alert(1)> \"'&amp; ` \u202eסבא e\u0301 \u0085{}"
REPORT = "# Study\n\nThe answer.\n\n## First\n\ntext\n\n## Last\n\nmade\n"


def predictions(variants: Sequence[str] = ("rope",), seeds: int = 1, questions: int = 4) -> pd.DataFrame:
    """Every third answer is right; the wrong ones differ from row to row and model to model."""
    rows = [
        {
            "variant": variant, "split": "dev", "row": str(row), "seed": str(seed), "init": init,
            "question": f"Where was Person {row} born?", "gold": f"Gold {row}",
            "predicted": f"Nowhere {row} {variant} {seed} {init}" if row % 3 else f"Gold {row}",
            "correct": str(int(row % 3 == 0)), "probability": f"{row / (questions + 1):.6f}",
        }
        for variant in variants for seed in range(1, seeds + 1) for init in ("scratch", "pretrained")
        for row in range(1, questions + 1)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def render(given: pd.DataFrame | None = None, show_questions: bool = True) -> str:
    given = predictions() if given is None else given
    return render_index(REPORT, {}, answers_data(given, list(dict.fromkeys(given["variant"])), show_questions))


def parsed(page: str) -> Element:
    """The document, or an error at the first place where it is not well-formed."""
    return html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(page)


def content(page: str) -> dict[str, Any]:
    return json.loads(next(parsed(page).iter("script")).text or "")


@pytest.fixture(scope="module", name="page")
def page_fixture(tmp_path_factory: pytest.TempPathFactory) -> str:
    """index.html of a study all of whose names are hostile."""
    base = tmp_path_factory.mktemp("study")
    write_baseline(base / "evaluations", place="</script><b>London")
    variant = "<b>rope'\""
    write_variant(base / "evaluations", variant, (NONE,), (HALF,), person=HOSTILE, probes=probe_tables(facts=0))
    part = Part(Markdown(f"## A part\n\n{table(['a'], [[HOSTILE]])}\n"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("stages.reporting.folder.failures_part", lambda _: part)
        write_report(base / "evaluations", base / "report", "quick", variant, [variant], settings=SHOWN)
    return (base / "report" / "index.html").read_text(encoding="utf-8")


def test_hostile_names_are_text_and_nothing_else_and_nothing_is_loaded(page: str) -> None:
    tree = parsed(page)
    names = [each.get("id") for each in tree.iter() if each.get("id")]
    assert len(names) == len(set(names)) and "default-src 'none'" in page
    assert [each.get("type") for each in tree.iter("script")] == ["application/json", None, None]
    assert not {each.tag for each in tree.iter()} & {"img", "b", "link", "iframe", "object", "embed", "base", "source"}
    assert not [name for each in tree.iter() for name in each.keys() if str(name).startswith("on")]  # noqa: SIM118
    assert content(page)["questions"][0] == f"Where was {HOSTILE.format(1)} born?"


def test_structure_serves_those_who_do_not_see_it(page: str) -> None:
    tree = parsed(page)
    assert tree.get("lang") == "en" and len(list(tree.iter("main"))) == 1
    labels = [each.get("aria-label") for each in tree.iter() if str(each.tag).endswith("svg")]
    assert len(labels) == len(set(labels)) == 3 and all(labels)
    titles = [
        "What a model reads and says", "Against the baselines", "Learning curves", "A part", "Calibration",
        "Every dev answer", "How it was made",
    ]  # fmt: skip
    assert ["".join(each.itertext()) for each in tree.iter("h2")] == titles
    assert ["".join(each.itertext()) for each in tree.iter("a") if each.get("href", "").startswith("#")][1:] == titles
    controls = [each for each in tree.iter() if each.tag in ("input", "select")]
    assert controls == [each for label in tree.iter("label") for each in label.iter() if each in controls]


def test_hidden_questions_golds_and_right_answers_are_nowhere() -> None:
    page = render(predictions(variants=["rope", "nope"]), show_questions=False)
    for secret in ("Where was", "Person", "Gold"):
        assert secret not in page
    data = content(page)
    assert (data["questions"], data["golds"], data["rows"]) == ([], [], [1, 2, 3, 4])
    assert [run["predicted"][2] for run in data["runs"]] == [-1] * 4


def test_shown_answers_come_back_whole_the_best_variant_first() -> None:
    data = content(render(predictions(variants=["rope", "nope"], seeds=2)))
    order = [(run["variant"], run["seed"], run["init"]) for run in data["runs"]]
    assert order[:3] == [("rope", 1, "pretrained"), ("rope", 1, "scratch"), ("rope", 2, "pretrained")]
    assert {variant for variant, *_ in order[4:]} == {"nope"} and len(order) == 8
    assert data["questions"] == [f"Where was Person {row} born?" for row in data["rows"]]
    assert [data["places"][gold] for gold in data["golds"]] == [f"Gold {row}" for row in data["rows"]]
    said = [f"Nowhere {row} nope 2 scratch" for row in (1, 2, 4)]
    assert [data["places"][answer] for answer in data["runs"][-1]["predicted"]] == [*said[:2], "Gold 3", said[2]]
    assert data["runs"][-1]["correct"] == "0010" and data["runs"][-1]["probability"] == [0.2, 0.4, 0.6, 0.8]
