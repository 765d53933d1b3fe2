"""The sections on what weights were asked: their sentences follow their numbers, and they reveal nothing."""

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from stages.errors import StudyError
from stages.reporting.sections.inventions import inventions_part
from stages.reporting.sections.knowledge import findings, groups, knowledge_part
from stages.reporting.sections.knowledge_figure import FEW, draw_knowledge
from stages.reporting.sections.probes import read_probe, read_probes
from stages.reporting.sections.saliency import saliency_part
from stages.reporting.sections.saliency_figure import draw_attention, draw_gradients
from stages.reporting.template import Part

PARTS: list[Callable[[Path, Sequence[str]], Part | None]] = [knowledge_part, inventions_part, saliency_part]
FORMS = ("continuation", "cloze", "words", "infilling", "other_name")
FACTS = 40
READ = "Where was Ada Cole born?⁇"


def known(seed: int, memorised: int, asked: int, both: int) -> list[dict[str, Any]]:
    """Rows of knowledge.tsv: so many facts of each kind, the memorised ones in the cloze form alone."""
    rows = []
    for row in range(1, FACTS + 1):
        is_memorised = row <= memorised
        is_asked = row <= both or memorised < row <= memorised + asked - both
        outcomes = {f"{weights}_{form}": 0 for weights in ("pretrained", "finetuned") for form in FORMS}
        outcomes |= {"pretrained_cloze": int(is_memorised), "finetuned_cloze": int(is_memorised and row % 2)}
        outcomes |= {"pretrained_infilling": 1}  # not practised: it does not count
        outcomes["finetuned_question"] = int(is_asked)
        measured = {**outcomes, **{f"{name}_logp": -0.5 for name in outcomes}}
        place = {"position": 20 + row, "train_count": row % 4, "born": row % 2}
        rows.append({"variant": "x", "seed": seed, "row": row, **place, **measured})
    return rows


def record(answers: Sequence[str] = ("Rome", "Oslo"), **changes: Any) -> dict[str, Any]:
    """probe.json of two trainings."""
    counts = {"answers": 20, "train": 10, "corpus": 5, "nowhere": 4, "nothing": 1}
    training = {
        "names": 4,
        "train": {"distance": 0.4, "by_chance": 0.2, "p": 0.001},
        "real": {"distance": 0.3, "by_chance": 0.29, "p": 0.4},
        "culture": {"cramers_v": 0.6, "by_chance": 0.5, "p": 0.02},
        "confidence": {"real": 0.8, "invented": 0.2, "surer": 0.9},
    }
    row = [1 / len(READ)] * len(READ)
    return {
        "variant": "x",
        "seeds": [1, 2],
        "questions": 50,
        "facts": FACTS,
        "cue": 10,
        "trained_forms": ["cloze"],
        "origins": [
            {"init": init, "split": split, **counts} for init in ("scratch", "pretrained") for split in ("dev", "test")
        ],
        "made_up": ["Karati"],
        "people": {
            "trainings": [{"seed": seed, **training} for seed in (1, 2)],
            "answers": [
                {"answer": answer, "invented": 0.5, "real": 0.25, "train": 0.05 * number}
                for number, answer in enumerate(answers, 1)
            ],
        },
        "saliency": {
            **{"question": READ[:-1], "read": READ, "name": [10, 18], "answer": answers[0], "probability": 0.3},
            **{"gradients": [row, row], "attention": [[row, row, row], [row, row, row]]},
        },
        **changes,
    }


def write_probe(
    folder: Path,
    variant: str = "x",
    counts: tuple[int, int, int] = (30, 20, 18),
    answers: Sequence[str] = ("Rome", "Oslo"),
    **changes: Any,
) -> None:
    """Write a probe; counts: facts memorised, asked, both."""
    content = record(answers, **changes)
    (folder / variant).mkdir(parents=True)
    (folder / variant / "probe.json").write_text(json.dumps(content), encoding="utf-8")
    _write_rows(folder / variant / "knowledge.tsv", [row for seed in (1, 2) for row in known(seed, *counts)])
    said = [
        {"variant": "x", "seed": seed, "culture": culture, "name": "Ada Cole", "answer": answer, "probability": 0.25}
        for seed in (1, 2)
        for culture in ("dutch", "english")
        for answer in (answers[0], answers[0], answers[-1])
    ]
    _write_rows(folder / variant / "invented.tsv", said)


def _write_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), delimiter="\t", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    path.write_text(text.getvalue(), encoding="utf-8")


def text_of(part: Part | None) -> str:
    assert part is not None
    return part.text


def test_the_shares_are_those_of_the_table(tmp_path: Path) -> None:
    write_probe(tmp_path)
    text = text_of(knowledge_part(tmp_path, ["x"]))
    assert "Of the 50 dev questions 40 have their answer in the person's own page." in text
    assert "**x** spells 75.0 % (95 % interval" in text  # 30 of 40: what is not practised does not count
    assert "it answers 50.0 % (95 % interval" in text and "(mean over 2 seeds)" in text
    assert "of the memorised places 60.0 % can be asked, of the others 20.0 %" in text  # 18 of 30, 2 of 10
    assert "in page form finetuning keeps 50.0 % of them" in text
    assert "without weight in *memorised*: continuation, words, infilling" in text
    row = next(line for line in text.splitlines() if line.startswith("| x |"))
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[1:7] == ["75.0 → 37.5", "0.0 → 0.0", "75.0 → 37.5", "0.0 → 0.0", "100.0 → 0.0", "0.0 → 0.0"]
    assert cells[7:] == ["50.0", "60.0", "20.0"]


def test_other_numbers_give_other_sentences(tmp_path: Path) -> None:
    for name, counts in (("ahead", (30, 20, 18)), ("behind", (10, 20, 5)), ("empty", (0, 4, 0)), ("all", (40, 40, 40))):
        write_probe(tmp_path, name, counts)
    said = {name: findings([read_probe(tmp_path / name)]) for name in ("ahead", "behind", "empty", "all")}
    assert "Memorising runs ahead of asking" in said["ahead"]
    assert "Asking is no harder than the page's words: of the memorised places 50.0 %" in said["behind"]
    assert "nothing was memorised" in said["empty"] and "0.0 % (95 % interval 0.0" in said["empty"]
    assert "100.0 % can be asked; in page form" in said["all"]
    both = findings(read_probes(tmp_path, ["ahead", "behind"]))
    assert "Memorised less asked: from 25.0 points (ahead) to -25.0 (behind)." in both


def test_the_control_is_told_only_where_the_cloze_is_practised(tmp_path: Path) -> None:
    write_probe(tmp_path, "with")
    write_probe(tmp_path, "without", trained_forms=["infilling"])
    assert "when another person's name stands in it" in text_of(knowledge_part(tmp_path, ["with"]))
    text = text_of(knowledge_part(tmp_path, ["without"]))
    assert "when another person's name" not in text
    assert "spells 100.0 %" in text and "in *memorised*: continuation, cloze, words" in text


def test_every_fact_is_in_one_group_of_each_split_and_the_file_has_their_shares(tmp_path: Path) -> None:
    write_probe(tmp_path)
    part = knowledge_part(tmp_path, ["x"])
    assert part is not None
    rows = list(csv.DictReader(io.StringIO(part.files["knowledge.csv"])))
    assert (rows[0]["by"], float(rows[0]["memorised"]), float(rows[0]["asked"])) == ("all", 0.75, 0.5)
    assert float(rows[0]["finetuned_question_logp"]) == -0.5
    splits = {row["by"] for row in rows[1:]}
    assert len(splits) == 3
    for split in splits:
        mine = [row for row in rows if row["by"] == split]
        assert sum(int(row["facts"]) for row in mine) == FACTS
        assert sum(int(row["facts"]) * float(row["memorised"]) for row in mine) == pytest.approx(30, abs=0.01)
    by_place = {row["group"]: int(row["facts"]) for row in rows if "training answers" in row["by"]}
    assert by_place == {"never": 10, "once": 10, "2–4": 20}
    by_position = {row["group"]: int(row["facts"]) for row in rows if row["by"].startswith("characters")}
    assert by_position == {"0–31": 11, "32–63": 29}


def test_the_extremes_are_the_lowest_and_the_highest_group(tmp_path: Path) -> None:
    write_probe(tmp_path, counts=(40, 20, 20))  # rows 1 to 20, at the positions 21 to 40, are asked
    text = text_of(knowledge_part(tmp_path, ["x"]))
    assert "characters of the page before the place, from 31.0 % (32–63) to 100.0 % (0–31)" in text


def test_where_answers_come_from_is_told_with_examples(tmp_path: Path) -> None:
    write_probe(tmp_path)
    text = text_of(inventions_part(tmp_path, ["x"]))
    assert (
        "Of the 20 wrong dev answers of **x**, pretrained, 50.0 % are places of the training questions, 25.0 % other "
        "strings of the corpus, and 20.0 % stand nowhere in it; 5.0 % are empty."
    ) in text
    assert "Made up are, for instance: Karati." in text
    assert "| x | pretrained | all test | 20 | 50.0 | 25.0 | 20.0 | 5.0 |" in text


def test_no_wrong_answer_and_nothing_made_up_are_told_as_such(tmp_path: Path) -> None:
    content = record()
    right = [{**each, "answers": 0, "train": 0, "corpus": 0, "nowhere": 0, "nothing": 0} for each in content["origins"]]
    write_probe(tmp_path, origins=right, made_up=[])
    text = text_of(inventions_part(tmp_path, ["x"]))
    assert "**x**, pretrained, gives no wrong dev answer." in text and "Made up" not in text


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
    assert "| dutch | 1 | Rome | 66.7 | 25.0 |" in text


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
    assert "there falls on it 32 % for x." in text_of(saliency_part(tmp_path, ["x"]))  # 8 of 25 characters
    part = saliency_part(tmp_path, ["x", "y"])
    text = text_of(part)
    assert "there falls on it from 32 % for x to 100 % for y." in text
    assert "| y | Rome | 30.0 | 100.0 |" in text
    assert part is not None and set(part.files) == {"saliency.svg", "saliency_attention.svg"}
    alone = saliency_part(tmp_path, ["y"])
    assert alone is not None and set(alone.files) == {"saliency.svg"} and "softmax" not in alone.text


def test_no_section_holds_a_name_a_question_or_a_gold_place(tmp_path: Path) -> None:
    """Only the answers about invented people and the strings that are nowhere are written out."""
    write_probe(tmp_path)
    for make in PARTS:
        part = make(tmp_path, ["x"])
        assert part is not None
        for content in (part.text, *part.files.values()):
            assert "Where was" not in content.replace(READ[:-1], "")
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


def test_groups_of_a_few_facts_are_not_drawn(tmp_path: Path) -> None:
    write_probe(tmp_path)
    probes = read_probes(tmp_path, ["x"])
    few = probes[0].known[probes[0].known.row < FEW]
    grouped = groups([*probes])
    small = groups([type(probes[0])(**{**vars(probes[0]), "known": few})])
    assert any(line.get_ydata()[0] > 0 for axes in draw_knowledge(grouped, ["x"]).axes for line in axes.lines)
    heights = [
        height for axes in draw_knowledge(small, ["x"]).axes for line in axes.lines for height in line.get_ydata()
    ]
    assert all(height != height for height in heights)


def test_a_probe_without_facts_and_without_people_has_its_origins_only(tmp_path: Path) -> None:
    write_probe(tmp_path, facts=0, people=None, saliency=None)
    for name in ("knowledge.tsv", "invented.tsv"):
        (tmp_path / "x" / name).unlink()
    assert knowledge_part(tmp_path, ["x"]) is None and saliency_part(tmp_path, ["x"]) is None
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
