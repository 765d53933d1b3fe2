"""The sections on what weights were asked: their sentences follow their numbers, and they reveal nothing."""

import csv
import io
from collections.abc import Callable, Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest

from stages.reporting.sections.inventions import inventions_part
from stages.reporting.sections.knowledge import groups, knowledge_part
from stages.reporting.sections.knowledge_figure import draw_knowledge
from stages.reporting.sections.probes import read_probes
from stages.reporting.sections.saliency import saliency_part
from stages.reporting.sections.saliency_figure import draw_attention, draw_gradients
from stages.reporting.sections.shifts import shifts_part
from stages.reporting.template import Part
from stages.system.errors import StudyError
from tests.reporting.sections.probe import READ, record, text_of, write_probe

Maker = Callable[[Path, Sequence[str]], Part | None]
PARTS: list[Maker] = [knowledge_part, shifts_part, inventions_part, saliency_part]


def test_where_answers_come_from_is_told_with_examples(tmp_path: Path) -> None:
    write_probe(tmp_path)
    text = text_of(inventions_part(tmp_path, ["x"]))
    assert (
        "Of the 20 wrong dev answers of **x**, pretrained, 50.0 % are places of the training questions, 25.0 % other "
        "strings of the corpus, and 20.0 % stand nowhere in it; 5.0 % are empty."
    ) in text
    assert "Made up by the pretrained model, on dev and test, are for instance: Karati." in text
    assert "| x | pretrained | all test | 20 | 50.0 | 25.0 | 20.0 | 5.0 |" in text


def test_no_wrong_answer_and_nothing_made_up_are_told_as_such(tmp_path: Path) -> None:
    content = record()
    right = [{**each, "answers": 0, "train": 0, "corpus": 0, "nowhere": 0, "nothing": 0} for each in content["origins"]]
    write_probe(tmp_path, origins=right, made_up=[])
    text = text_of(inventions_part(tmp_path, ["x"]))
    assert "No dev answer of **x**, pretrained, is wrong." in text
    assert "Made up" not in text and "for instance" not in text


def test_where_the_best_makes_up_nothing_the_one_that_makes_up_most_gives_the_examples(tmp_path: Path) -> None:
    def made_up(of_dev: int, of_test: int) -> list[dict[str, object]]:
        counts = {"dev": of_dev, "test": of_test}
        return [{**each, "nowhere": counts[each["split"]]} for each in record()["origins"]]

    write_probe(tmp_path, "best", (40, 40, 40), made_up=[], origins=made_up(0, 0))
    write_probe(tmp_path, "few", made_up=["Oslondon"], origins=made_up(5, 0))
    write_probe(tmp_path, "held", made_up=[], origins=made_up(20, 20))  # each holds a name
    write_probe(tmp_path, "most", made_up=["Karati", "Bri|ston"], origins=made_up(4, 5))
    names = ["best", "few", "held", "most"]
    text = text_of(inventions_part(tmp_path, names))
    assert "wrong dev answers of **best**" in text
    assert (
        "Of **most**, pretrained, 22.5 % of the wrong dev and all test answers stand nowhere, for instance: Karati, "
        "Bri&#124;ston."
    ) in text
    assert "Oslondon" not in text
    assert "Of **few**, pretrained, 12.5 % of" in text_of(inventions_part(tmp_path, names[:3]))
    assert "for instance" not in text_of(inventions_part(tmp_path, ["best", "held"]))


def test_people_in_no_page_are_compared(tmp_path: Path) -> None:
    write_probe(tmp_path)
    text = text_of(inventions_part(tmp_path, ["x"]))
    assert (
        "Asked about 4 invented people, **x** answers most often Rome (50.0 %; 5.0 % of the training answers)." in text
    )
    assert (
        "the answers differ from the training places (total variation distance 0.40, by chance 0.20, p = 0.001)" in text
    )
    assert "do not differ beyond chance from the answers about real people of dev" in text
    assert "They depend on the culture that the name is of (Cramér's V 0.60, by chance 0.50, p = 0.020)." in text
    assert "surer of the real one in 90.0 % of the pairs." in text
    assert "| dutch | 3 | Rome | 4 of 6 | 25.0 |" in text


@pytest.mark.parametrize(
    ("answers", "cells"),
    [
        (["Rome", "Rome", "Oslo", "Lima"], "Rome | 2 of 4"),
        (["Rome", "Oslo", "Rome", "Oslo"], "Oslo, Rome | 2 of 4 each"),
        (["Rome", "Oslo", "Lima", "Bonn"], "– | –"),
        (["Rome", "Oslo", "Lima", "Lima"] * 2, "Lima | 4 of 8"),
        (["Rome", "Oslo", "Lima", "Bonn"] * 2, "– | –"),  # each for one name alone, by all seeds
        (["Rome"], "– | –"),
        (["", "", "Rome", "Oslo"], "*nothing* | 2 of 4"),
        ([*("Rome", "Oslo", "Lima", "Bonn"), *("Bonn", "Lima", "Oslo", "Rome")], "– | –"),  # four are level
    ],
)
def test_an_answer_is_typical_of_a_culture_only_if_several_of_its_names_have_it(
    tmp_path: Path, answers: list[str], cells: str
) -> None:
    write_probe(tmp_path)
    said = [f"x\t{1 + number // 4}\tdutch\tName {number % 4}\t{answer}\t0.25" for number, answer in enumerate(answers)]
    lines = ["variant\tseed\tculture\tname\tanswer\tprobability", *said]
    (tmp_path / "x" / "invented.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert f"| dutch | {min(4, len(answers))} | {cells} | 25.0 |" in text_of(inventions_part(tmp_path, ["x"]))


@pytest.mark.parametrize(
    ("name", "key", "value", "told"),
    [
        ("culture", "p", 0.3, "That they depend on the culture of the name is not seen"),
        ("train", "p", 0.3, "the answers do not differ beyond chance from the training places"),
        ("confidence", "surer", 0.5, "50.0 % of the pairs, no more often than by chance."),
    ],
)
def test_the_weakest_training_decides(tmp_path: Path, name: str, key: str, value: float, told: str) -> None:
    people = record()["people"]
    for training in people["trainings"][0 if name == "confidence" else 1 :]:
        training[name][key] = value
    write_probe(tmp_path, people=people)
    assert told in text_of(inventions_part(tmp_path, ["x"]))


def test_the_share_of_the_gradient_on_the_name_is_told(tmp_path: Path) -> None:
    write_probe(tmp_path, "x")
    other = record()["saliency"]
    other["gradients"] = [[1.0 if place == 12 else 0.0 for place in range(len(READ))]]
    write_probe(tmp_path, "y", saliency={**other, "attention": []})
    alone = text_of(saliency_part(tmp_path, ["x"]))
    assert "read; 32 % of the gradient at the embedding falls on it." in alone  # 8 of 25 characters
    part = saliency_part(tmp_path, ["x", "y"])
    text = text_of(part)
    assert "read; from 32 % (x) to 100 % (y) of the gradient at the embedding falls on it." in text
    assert "| y | Rome | 30.0 | 100.0 |" in text
    assert part is not None and set(part.files) == {"saliency.svg", "saliency_attention.svg"}
    part = saliency_part(tmp_path, ["y"])
    assert part is not None and set(part.files) == {"saliency.svg"} and "softmax" not in part.text
    why = "Without attention weights to show, for theirs is no plain product of queries and keys of all characters: y."
    assert why in text and why in part.text and "Without attention weights" not in alone


def test_no_section_holds_a_name_a_question_or_a_gold_place(tmp_path: Path) -> None:
    """Only the answers about invented people and the strings that are nowhere are written out."""
    write_probe(tmp_path)
    for make in PARTS:
        part = make(tmp_path, ["x"])
        assert part is not None
        for content in (part.text, *part.files.values()):
            assert "Where was" not in content.replace(READ[:-1], "").replace("*Where was*", "")
    part = knowledge_part(tmp_path, ["x"])
    assert part is not None
    header, *rows = csv.reader(io.StringIO(part.files["knowledge.csv"]))
    assert not {"row", "seed", "name", "place", "question", "gold"} & set(header)
    texts = {"x", "all", *(cell for row in rows for cell in row[1:3])}
    assert texts >= {cell for row in rows for cell in row if not cell.replace(".", "").replace("-", "").isdigit()} - {
        ""
    }


def test_hostile_text_keeps_the_page_and_its_tables_whole(tmp_path: Path) -> None:
    hostile = 'A|B <img src=x> `c` "D"'
    write_probe(tmp_path, answers=(hostile, "NA"), made_up=["<b>|"])
    text = text_of(inventions_part(tmp_path, ["x"])) + text_of(saliency_part(tmp_path, ["x"]))
    assert "<img" not in text and "<b>" not in text
    tables = [line for line in text.splitlines() if line.startswith("|")]
    assert any("A&#124;B" in line for line in tables) and any("| NA |" in line for line in tables)
    assert {line.count("|") for line in tables if "A&#124;B" in line} <= {5, 6}


@pytest.mark.parametrize("number", [1, 2, 14])
def test_the_pictures_hold_what_they_are_drawn_from(tmp_path: Path, number: int) -> None:
    names = [f"random_synthesizer_{place}" for place in range(number)]
    for name in names:
        write_probe(tmp_path, name)
    probes = read_probes(tmp_path, names)
    grouped = groups(probes)
    figure = draw_knowledge(grouped, names)
    figure.draw_without_rendering()
    assert [len(axes.lines) for axes in figure.axes] == [number] * 6
    (legend,) = figure.legends
    box = legend.get_window_extent()
    assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1
    assert all(not box.overlaps(axes.get_window_extent()) for axes in figure.axes)
    for drawn, rows in ((draw_gradients(probes), 2), (draw_attention(probes), 2)):
        drawn.draw_without_rendering()
        axes = drawn.axes[0]
        assert len(axes.get_yticklabels()) == rows * number
        assert [label.get_text() for label in axes.get_xticklabels()] == list(READ.replace(" ", "␣"))
        assert all(label.get_window_extent().x0 >= 0 for label in axes.get_yticklabels())
    for make in PARTS:
        part = make(tmp_path, names)
        assert part is not None
        for name, content in part.files.items():
            if name.endswith(".svg"):
                ElementTree.fromstring(content)
                assert f"]({name})" in part.text


def test_a_probe_without_facts_and_without_people_has_its_origins_only(tmp_path: Path) -> None:
    write_probe(tmp_path, shifts={}, facts=0, people=None, saliency=None)
    for name in ("knowledge.tsv", "invented.tsv"):
        (tmp_path / "x" / name).unlink()
    assert [make(tmp_path, ["x"]) for make in (knowledge_part, shifts_part, saliency_part)] == [None] * 3
    text = text_of(inventions_part(tmp_path, ["x"]))
    assert "## Where answers come from" in text and "People in no page" not in text


@pytest.mark.parametrize("make", PARTS)
def test_without_a_probe_there_is_no_section(
    tmp_path: Path, make: Callable[[Path, Sequence[str]], Part | None]
) -> None:
    assert make(tmp_path / "nothing", ["x"]) is None
    write_probe(tmp_path, "x")
    assert text_of(make(tmp_path, ["x", "y"])) == text_of(make(tmp_path, ["x"]))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        *(("probe.json", "{"), ("probe.json", "{}"), ("probe.json", "[]")),
        *(("knowledge.tsv", None), ("knowledge.tsv", "variant\tseed\n"), ("invented.tsv", "variant\n")),
        *(("shifted.tsv", None), ("shifted.tsv", "variant\tseed\trow\n")),
    ],
)
def test_a_broken_probe_is_told_in_one_line(tmp_path: Path, name: str, content: str | None) -> None:
    write_probe(tmp_path)
    path = tmp_path / "x" / name
    path.unlink()
    if content is not None:
        path.write_text(content)
    for make in PARTS:
        with pytest.raises(StudyError, match=r"x/probe\.json: broken .*dvc repro") as told:
            make(tmp_path, ["x"])
        assert "\n" not in str(told.value)


@pytest.mark.parametrize("key", ["people", "saliency", "origins"])
def test_a_part_that_lacks_something_is_told_in_one_line(tmp_path: Path, key: str) -> None:
    write_probe(tmp_path, **{key: [{}] if key == "origins" else {"wrong": 1}})
    make = saliency_part if key == "saliency" else inventions_part
    with pytest.raises(StudyError, match=r"x/probe\.json: broken") as told:
        make(tmp_path, ["x"])
    assert "\n" not in str(told.value)
