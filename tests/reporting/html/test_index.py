"""The page as a parser finds it: whole, alone, harmless, small, and silent where questions are not to be shown."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import html5lib
import pandas as pd
import pytest
from stages.reporting.html.answers_table import HIDDEN

from stages.reporting.folder import write_report
from stages.reporting.html.index import LARGEST, Predictions, render_index
from stages.reporting.markdown import Markdown, escape, table
from stages.reporting.template import Part
from stages.system.errors import StudyError
from tests.reporting.example import SHOWN, write_baseline, write_variant

NONE, HALF = [0] * 10, [1] * 5 + [0] * 5
HOSTILE = "</script><!--<script>alert(1)</script><img src=x onerror=alert(1)> \"'&amp; ` \u202eסבא e\u0301 \u0085{}"
REPORT = "# Study\n\nThe answer.\n\n![A figure](one.svg)\n\n## First\n\ntext\n\n## Last\n\nmade\n"
PICTURE = (
    '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="60pt"'
    ' viewBox="0 0 60 40"><defs><path id="glyph" d="M 0 0"/></defs>'
    '<use xlink:href="#glyph" style="fill: #222222"/></svg>'
)
PICTURES = {"one.svg": PICTURE, "two.svg": PICTURE}


def predictions(
    variants: Sequence[str] = ("rope",),
    seeds: int = 1,
    questions: int = 4,
    inits: Sequence[str] = ("scratch", "pretrained"),
    name: str = "Person {}",
    answer: str = "Nowhere {}",
) -> pd.DataFrame:
    """Every third answer is right; the wrong ones differ from row to row and model to model."""
    rows = [
        {
            "variant": variant, "split": "dev", "row": str(row), "seed": str(seed), "init": init,
            "question": f"Where was {name.format(row)} born?", "gold": f"Gold {row}",
            "predicted": answer.format(f"{row} {variant} {seed} {init}") if row % 3 else f"Gold {row}",
            "correct": str(int(row % 3 == 0)), "probability": f"{row / (questions + 1):.6f}",
        }
        for variant in variants for seed in range(1, seeds + 1) for init in inits for row in range(1, questions + 1)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def render(report: str = REPORT, given: pd.DataFrame | None = None, show_questions: bool = True) -> str:
    given = predictions() if given is None else given
    ranking = list(dict.fromkeys(given["variant"]))
    return render_index(report, PICTURES, Predictions(given, ranking, show_questions))


def parsed(page: str) -> Element:
    """The document, or an error at the first place where it is not well-formed."""
    return html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(page)


def scripts(page: str) -> list[Element]:
    return list(parsed(page).iter("script"))


def content(page: str) -> dict[str, Any]:
    return json.loads(scripts(page)[0].text or "")


def words(element: Element) -> str:
    return " ".join("".join(element.itertext()).split())


def svgs(page: str) -> list[Element]:
    return [each for each in parsed(page).iter() if str(each.tag).endswith("svg")]


@pytest.fixture(scope="module", name="folder")
def folder_fixture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a study all of whose names are hostile."""
    base = tmp_path_factory.mktemp("study")
    evaluations = base / "evaluations"
    write_baseline(evaluations, 10, 10.0, place="</script><b>London")
    variant = "<b>rope'\""
    write_variant(evaluations, variant, (NONE,), (HALF,), person=HOSTILE)
    part = Part(
        Markdown(f"## A part\n\n![{escape(HOSTILE)}](one.svg)\n\n{table(['a'], [[HOSTILE]])}\n"), {"one.svg": PICTURE}
    )
    write_report(evaluations, base / "report", "quick", variant, [variant], settings=SHOWN, parts=[part])
    return base / "report"


def test_hostile_names_are_text_and_nothing_else(folder: Path) -> None:
    page = (folder / "index.html").read_text(encoding="utf-8")
    tree = parsed(page)
    assert [each.get("type") for each in tree.iter("script")] == ["application/json", None, None]
    assert not list(tree.iter("img"))
    assert not list(tree.iter("b"))
    assert not [name for each in tree.iter() for name in each.keys() if str(name).startswith("on")]  # noqa: SIM118
    data = content(page)
    assert data["questions"][0] == f"Where was {HOSTILE.format(1)} born?"
    assert data["runs"][0]["variant"] == "<b>rope'\""
    assert "Where was </script><!--<script>alert(1)" in words(tree)  # among the examples


def test_every_figure_of_the_report_is_inlined_once(folder: Path) -> None:
    report = (folder / "report.md").read_text(encoding="utf-8")
    shown = re.findall(r"^!\[.*\]\((.+)\)$", report, re.MULTILINE)
    labels = [each.get("aria-label") for each in svgs((folder / "index.html").read_text(encoding="utf-8"))]
    assert sorted(shown) == sorted(path.name for path in folder.glob("*.svg"))
    assert "one.svg" in shown
    assert len(labels) == len(set(labels)) == len(shown)
    assert all(labels)


def test_identifiers_are_unique_and_what_refers_to_them_finds_them(folder: Path) -> None:
    page = (folder / "index.html").read_text(encoding="utf-8")
    tree = parsed(page)
    names = Counter(each.get("id") for each in tree.iter() if each.get("id"))
    assert max(names.values()) == 1
    links = [each.get("href", "") for each in tree.iter() if each.get("href", "").startswith("#")]
    assert len(links) > 100  # figures refer to their letters
    assert {link[1:] for link in links} <= set(names)
    assert set(re.findall(r"url\(#([^)]+)\)", page)) <= set(names)
    for attribute in ("aria-labelledby", "aria-describedby"):
        assert {each.get(attribute) for each in tree.iter() if each.get(attribute)} <= set(names)


def test_nothing_is_loaded(folder: Path) -> None:
    page = (folder / "index.html").read_text(encoding="utf-8")
    for each in parsed(page).iter():
        assert each.tag not in ("link", "iframe", "object", "embed", "base", "audio", "video", "source", "image")
        assert not any(str(name).rpartition("}")[2] in ("src", "srcset", "data", "poster") for name in each.keys())  # noqa: SIM118
    style = "".join(words(each) for each in parsed(page).iter("style"))
    assert "@import" not in style
    assert "url(" not in style
    assert "default-src 'none'" in page


def test_structure_serves_those_who_do_not_see_it(folder: Path) -> None:
    tree = parsed((folder / "index.html").read_text(encoding="utf-8"))
    assert tree.get("lang") == "en"
    assert len(list(tree.iter("main"))) == 1
    levels = [int(each.tag[1]) for each in tree.iter() if re.fullmatch("h[1-6]", str(each.tag))]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    body = tree.find("body")
    assert body is not None
    assert body[0].get("href") == "#main--content"
    contents = [words(each) for each in body.iter("a") if each.get("href", "").startswith("#")][1:]
    assert contents == [words(each) for each in body.iter("h2")]
    assert all(each.get("scope") == "col" for each in tree.iter("th"))
    controls = [each for each in tree.iter() if each.tag in ("input", "select")]
    labelled = [each for label in tree.iter("label") for each in label.iter() if each.tag in ("input", "select")]
    assert controls == labelled


def test_the_page_opens_with_the_answer_and_the_accuracy_figure(folder: Path) -> None:
    header = next(parsed((folder / "index.html").read_text(encoding="utf-8")).iter("header"))
    assert [each.tag for each in header] == ["h1", "p", "figure"]
    assert "answers 50.0 % of the 10 dev questions" in words(header[1])


def test_the_sections_are_those_of_the_markdown(folder: Path) -> None:
    titles = re.findall("^## (.+)$", (folder / "report.md").read_text(encoding="utf-8"), re.MULTILINE)
    found = [words(each) for each in parsed((folder / "index.html").read_text(encoding="utf-8")).iter("h2")]
    assert found == [*titles[:-1], "Every dev answer", titles[-1]]


def test_hidden_questions_golds_and_right_answers_are_nowhere() -> None:
    page = render(given=predictions(variants=["rope", "nope"]), show_questions=False)
    for secret in ("Where was", "Person", "Gold"):
        assert secret in render()  # the same page would have them
        assert secret not in page
    data = content(page)
    assert (data["questions"], data["golds"], data["rows"]) == ([], [], [1, 2, 3, 4])
    assert [run["predicted"][2] for run in data["runs"]] == [HIDDEN] * 4
    assert data["places"][data["runs"][0]["predicted"][0]] == "Nowhere 1 rope 1 pretrained"
    said = words(parsed(page))
    assert "Questions and gold places are left out, here and in predictions.tsv" in said
    assert "that file has all of the models' own answers and whether they were right" in said
    assert "left out, here" not in words(parsed(render()))


def test_shown_answers_come_back_whole() -> None:
    given = predictions(variants=["rope", "nope"], seeds=2)
    data = content(render(given=given))
    back = {
        (run["variant"], run["init"], run["seed"], row): (
            question, data["places"][gold], data["places"][answer], mark, probability,
        )
        for run in data["runs"]
        for row, question, gold, answer, mark, probability in zip(
            data["rows"], data["questions"], data["golds"], run["predicted"], run["correct"], run["probability"],
            strict=True,
        )
    }  # fmt: skip
    assert back == {
        (r["variant"], r["init"], int(r["seed"]), int(r["row"])): (
            r["question"], r["gold"], r["predicted"], r["correct"], round(float(r["probability"]), 4),
        )
        for r in given.to_dict("records")
    }  # fmt: skip
    order = [(run["variant"], run["seed"], run["init"]) for run in data["runs"]]
    assert order[:3] == [("rope", 1, "pretrained"), ("rope", 1, "scratch"), ("rope", 2, "pretrained")]


def test_a_large_study_stays_small_and_whole() -> None:
    given = predictions([f"variant_{number}" for number in range(14)], seeds=3, questions=500)
    assert len(given) == 42_000
    page = render(given=given)
    assert len(page.encode("utf-8")) < LARGEST
    assert len(content(page)["runs"]) == 14 * 3 * 2
    assert "of the 42,000 answers are in this page" not in words(parsed(page))


def test_a_study_that_is_too_large_says_what_is_left_out() -> None:
    given = predictions([f"variant_{number}" for number in range(6)], seeds=3, questions=500, answer="{} " + 200 * "é")
    page = render(given=given)
    assert LARGEST / 2 < len(page.encode("utf-8")) <= LARGEST
    runs = content(page)["runs"]
    assert {run["seed"] for run in runs} == {1}
    names = [f"variant_{number}" for number in range(6)]
    assert [run["variant"] for run in runs if run["init"] == "pretrained"] == names
    assert [run["variant"] for run in runs if run["init"] == "scratch"] == names[: len(runs) - 6]
    assert f"{500 * len(runs):,} of the 18,000 answers are in this page" in words(parsed(page))


def test_variants_that_were_asked_different_questions_are_refused() -> None:
    given = pd.concat([predictions(["rope"]), predictions(["nope"], name="Somebody {}")])
    with pytest.raises(StudyError, match="not all variants were asked the same questions"):
        render(given=given)


@pytest.mark.parametrize("probability", ["nan", "many"])
def test_a_probability_that_is_no_number_is_refused(probability: str) -> None:
    with pytest.raises(StudyError, match="a probability is no number"):
        render(given=predictions().assign(probability=probability))


def test_an_answer_of_nothing_is_no_right_answer_that_is_hidden() -> None:
    given = predictions()
    data = content(render(given=given.assign(predicted="", correct="0"), show_questions=False))
    assert data["places"] == [""]
    assert data["runs"][0]["predicted"] == [0] * 4


def test_a_page_without_predictions_has_no_table_of_them() -> None:
    page = render_index(REPORT, PICTURES)
    tree = parsed(page)
    assert len(list(tree.iter("script"))) == 1
    assert not [each for each in tree.iter() if str(each.get("id", "")).startswith("answers--")]
    assert "predictions.tsv" not in page
    assert [each.get("href") for each in tree.iter("a")] == ["#main--content", "#first", "#last"]
