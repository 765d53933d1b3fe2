"""The section on what is known and what can be asked."""

import csv
import io
from itertools import pairwise
from pathlib import Path

import pytest
from matplotlib.text import Text

from stages.reporting.sections.knowledge import SPLITS, findings, groups, knowledge_part
from stages.reporting.sections.knowledge_figure import FEW, draw_knowledge
from stages.reporting.sections.probes import read_probe, read_probes
from stages.reporting.style import styled
from tests.reporting.sections.probe import FACTS, text_of, write_probe


def test_the_shares_are_those_of_the_table(tmp_path: Path) -> None:
    write_probe(tmp_path)
    text = text_of(knowledge_part(tmp_path, ["x"]))
    assert "Of the 50 dev questions 40 have their answer in the person's own page." in text
    assert "**x** spells 75.0 % (95 % interval" in text  # 30 of 40: what is not practised does not count
    assert "it answers 50.0 % (95 % interval" in text and "(mean over 2 seeds)" in text
    assert "of the memorised places 60.0 % can be asked, of the others 20.0 %" in text  # 18 of 30, 2 of 10
    assert "in page form finetuning keeps 50.0 % of them" in text
    assert "not counted in *memorised*: continuation, words, infilling" in text
    row = next(line for line in text.splitlines() if line.startswith("| x |"))
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[1:7] == ["75.0 → 37.5", "0.0 → 0.0", "75.0 → 37.5", "0.0 → 0.0", "100.0 → 0.0", "0.0 → 0.0"]
    assert cells[7:] == ["25.0 → 50.0", "60.0", "20.0"]


def test_one_sentence_sets_what_is_known_beside_what_is_answered(tmp_path: Path) -> None:
    write_probe(tmp_path)
    part = knowledge_part(tmp_path, ["x"])
    assert part is not None and part.headline == (
        "Of the places that stand in the people's pages its pretrained weights spell 75.0 % in a form of these pages, "
        "and it answers 50.0 % when asked."
    )


COUNTS = {
    "ahead": (30, 20, 18),
    "behind": (10, 20, 5),
    "level": (20, 20, 10),
    "hardly": (22, 20, 10),  # 12 facts against 10
    "empty": (0, 4, 0),
    "all": (40, 40, 40),
}  # facts memorised, asked, both


def test_other_numbers_give_other_sentences(tmp_path: Path) -> None:
    for name, counts in COUNTS.items():
        write_probe(tmp_path, name, counts)
    said = {name: findings([read_probe(tmp_path / name)]) for name in COUNTS}
    assert "Memorising runs ahead of asking: of the memorised places 60.0 %" in said["ahead"]
    assert "More can be asked than is memorised: of the memorised places 50.0 %" in said["behind"]
    alike = "How much is memorised and how much can be asked are not told apart: of the memorised places"
    assert all(alike in said[name] for name in ("level", "hardly", "all"))
    assert "Nothing was memorised" in said["empty"] and "0.0 % (95 % interval 0.0" in said["empty"]
    assert "100.0 % can be asked; in page form" in said["all"]
    both = findings(read_probes(tmp_path, ["ahead", "behind"]))
    assert "Memorised minus asked: from 25.0 points (ahead) to -25.0 (behind)." in both


def test_the_control_is_told_only_where_the_cloze_is_practised(tmp_path: Path) -> None:
    write_probe(tmp_path, "with")
    write_probe(tmp_path, "without", trained_forms=["infilling"])
    assert "when another person's name stands in it" in text_of(knowledge_part(tmp_path, ["with"]))
    text = text_of(knowledge_part(tmp_path, ["without"]))
    assert "when another person's name" not in text
    assert "spells 100.0 %" in text and "in *memorised*: continuation, cloze, words" in text
    write_probe(tmp_path, "wordy", trained_forms=["words"], control="words", words=3)
    text = text_of(knowledge_part(tmp_path, ["wordy"]))
    assert "The form words gives 0.0 % of the places" in text
    assert "words with another name" in text and "the last 3 words before it" in " ".join(text.split())


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
    start = "Of the memorised places the share that can be asked goes, by characters of the page before the place, "
    assert f"{start}from 31.0 % (32–63) to 100.0 % (0–31)" in text


def test_groups_whose_intervals_overlap_are_not_told_apart(tmp_path: Path) -> None:
    write_probe(tmp_path, counts=(40, 20, 15))  # asked are 11 of 11 at the first positions, 4 of 29 at the others
    write_probe(tmp_path, "even", counts=(40, 40, 40))
    write_probe(tmp_path, "near", counts=(24, 8, 8))  # 8 of the 11 at the first positions, none of 13 at the others
    goes = "the share that can be asked goes, by characters of the page before the place"
    assert goes in findings([read_probe(tmp_path / "x")]) and goes in findings([read_probe(tmp_path / "near")])
    assert "goes, by" not in findings([read_probe(tmp_path / "even")])
    assert "by words before the place" not in findings([read_probe(tmp_path / "x")])  # odd rows and even ones


@pytest.mark.parametrize("number", [1, 4])
@pytest.mark.parametrize("furthest", [1, 100])
def test_titles_lie_within_the_canvas_and_beside_each_other(tmp_path: Path, number: int, furthest: int) -> None:
    names = [f"variant_{place}" for place in range(number)]
    for name in names:
        write_probe(tmp_path, name)
    probes = read_probes(tmp_path, names)
    for probe in probes:  # the more groups the others have, the narrower is the last panel
        probe.known["position"] = 1 + probe.known["row"] * furthest // FACTS
        probe.known["train_count"] = probe.known["row"] // 2
    with styled():
        figure = draw_knowledge(groups(probes), names)
        figure.draw_without_rendering()
        texts = {" ".join(text.get_text().split()): text for text in figure.findobj(Text)}
        boxes = [texts[title].get_window_extent() for title in SPLITS]
    for box in boxes:
        assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= box.y0 < box.y1 <= figure.bbox.y1
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))


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
