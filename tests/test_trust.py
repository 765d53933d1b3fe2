"""docs/trust.md: each of its figures is the one of a committed report.

Figures stand with one decimal in the text and in its tables, in the order of FIGURES. The probabilities of the examples
have none. A report that somebody commits in the place of the project's is not compared.
"""

import csv
import io
import re

import pytest

from tests.support.pages import TEXTS, committed, published, rows_of

RESULTS = "| variant | pretrained, %"  # how a table of report.md begins
ORIGINS = "| variant | asked |"
NEIGHBOURS = "| variant | wrong answers | nearest"
CALIBRATION = "| variant | greedy"
CONSTANT = "| answers | from scratch"
FREQUENCY = "| training questions |"
DISTANCE = "| characters between title and gold answer"
CLAIM = "performs poorly on long distance"  # behind it stands the table of the slopes
NAMES = "| names |"
WRONG = "| variant | wrong answers | own page"

# report, table, first cells of the row, number of the column from which the figures follow one another; how many
FIGURES = [
    ("handout", RESULTS, ("always London",), 1, 1),
    ("handout", RESULTS, ("rope",), 2, 1),
    ("handout", RESULTS, ("rope",), 1, 1),
    ("unaided", RESULTS, ("always London",), 1, 1),
    ("unaided", RESULTS, ("rope",), 2, 1),
    ("unaided", RESULTS, ("rope",), 1, 1),
    ("handout", RESULTS, ("rope",), 3, 1),
    ("handout", ORIGINS, ("rope", "dev, from scratch"), 7, 1),
    ("handout", ORIGINS, ("rope", "dev, pretrained"), 7, 1),
    ("handout", RESULTS, ("rope",), 4, 1),
    ("handout", WRONG, ("rope",), 3, 1),
    ("handout", CALIBRATION, ("rope",), 2, 1),
    ("handout", CALIBRATION, ("rope",), 1, 1),
    ("handout", CONSTANT, ("gold",), 2, 1),
    ("handout", CONSTANT, ("synthesizer",), 2, 1),
    ("handout", CONSTANT, ("rope",), 2, 1),
    ("handout", FREQUENCY, ("rope",), 1, 4),
    ("handout", FREQUENCY, ("synthesizer",), 1, 4),
    ("unaided", FREQUENCY, ("rope",), 1, 4),
    ("handout", FREQUENCY, ("the reader",), 1, 4),
    ("unaided", CONSTANT, ("rope",), 2, 1),
    *((recipe, DISTANCE, (variant,), 1, 4)
      for recipe in ("handout", "unaided", "open")
      for variant in ("rope", "synthesizer")),
    ("quick", NAMES, ("rope: right",), 1, 1),
    ("quick", NAMES, ("rope: right",), 3, 1),
    *((recipe, ORIGINS, (variant, "unseen entities"), column, 1)
      for recipe, variant in (("handout", "rope"), ("handout", "synthesizer"), ("quick", "rope"))
      for column in (4, 5, 6, 7)),
    ("handout", NEIGHBOURS, ("rope",), 2, 3),
]  # fmt: skip


def folder(recipe: str) -> str:
    """The recipe's report, below reports/."""
    return "open/all" if recipe == "open" else f"{recipe}/compared"


def text_of(recipe: str) -> str:
    """The committed report of a recipe."""
    return committed(f"reports/{folder(recipe)}/report.md").decode()


def figures_of(recipe: str, table: str, row: tuple[str, ...], column: int, count: int) -> list[str]:
    """The figures of a table of a committed report, without their intervals."""
    rows = rows_of(text_of(recipe), table)
    (cells,) = [cells for cells in rows if tuple(cells[: len(row)]) == row]
    return [cell.split()[0] for cell in cells[column : column + count]]


def test_every_figure_is_that_of_its_report() -> None:
    stated = re.findall(r"(\d+\.\d) %", TEXTS["docs/trust.md"])
    assert len(stated) == sum(count for *_, count in FIGURES)
    for source in FIGURES:
        count = source[-1]
        figures, stated = stated[:count], stated[count:]
        if published(folder(source[0])):
            assert figures == figures_of(*source), source


@pytest.mark.parametrize(("recipe", "verdict"), [("handout", "yes"), ("unaided", "no"), ("open", "no")])
def test_the_synthesizer_is_behind_at_every_distance_and_loses_as_is_said(recipe: str, verdict: str) -> None:
    if published(folder(recipe)):
        synthesizer, vanilla = (
            [float(share) for share in figures_of(recipe, DISTANCE, (variant,), 1, 4)]
            for variant in ("synthesizer", "vanilla")
        )
        assert all(ours < theirs for ours, theirs in zip(synthesizer, vanilla, strict=True))
        text = text_of(recipe)
        ((*pair, points, _, _, significant),) = rows_of(text[text.index(CLAIM) :], "| first | second |")
        assert (pair, significant) == (["synthesizer", "vanilla"], verdict)
        assert significant == "no" or points.startswith("+")  # a flatter line: it loses less


def test_groups_of_names_have_so_many_questions() -> None:
    text = " ".join(TEXTS["docs/trust.md"].split())
    if published(folder("handout")):
        english, other = map(int, figures_of("handout", NAMES, ("dev questions",), 1, 2))
        assert f"{other} of the {english + other} dev names have letters that English lacks" in text
    if published(folder("quick")):
        english, _, western = map(int, figures_of("quick", NAMES, ("dev questions",), 1, 3))
        assert f"These are {english} and {western} questions" in text


def test_every_example_is_an_answer_of_the_generated_world() -> None:
    examples = rows_of(TEXTS["docs/trust.md"], "| question | right is |")
    assert len(examples) == len(re.findall(r"(?<![\d.])\d+ %", TEXTS["docs/trust.md"]))
    if published("quick/compared"):
        table = committed("reports/quick/compared/predictions.tsv").decode()
        answers = [
            [row["question"], row["gold"], f"{row['variant']}, seed {row['seed']}", row["predicted"],
             f"{100 * float(row['probability']):.0f} %"]
            for row in csv.DictReader(io.StringIO(table), delimiter="\t")
            if row["init"] == "pretrained" and row["split"] == "dev"
        ]  # fmt: skip
        assert [example for example in examples if example not in answers] == []
