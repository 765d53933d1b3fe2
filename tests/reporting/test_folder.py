"""The report's folder as its reader finds it."""

import csv
import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from stages.reporting.folder import write_report
from stages.reporting.markdown import Markdown
from stages.reporting.template import Part
from stages.system.errors import StudyError
from tests.reporting.example import HIDDEN, PLACES, PROVENANCE, SHOWN, write_baseline, write_variant

FILES = {
    "report.md", "index.html", "metrics.json", "accuracy.svg", "loss.svg", "predictions.tsv", "curves.csv",
    "accuracy.csv", "differences.svg", "differences.csv", "pretraining.svg", "confidence.svg",
}  # fmt: skip
BOTH = ["vanilla", "rope"]
NONE, HALF, MOST = [0] * 10, [1] * 5 + [0] * 5, [1] * 8 + [0] * 2


@pytest.fixture
def evaluations(tmp_path: Path) -> Path:
    folder = tmp_path / "evaluations"
    write_baseline(folder, 10, 10.0)
    write_variant(folder, "vanilla", (NONE, NONE), (HALF, HALF))
    write_variant(folder, "rope", (NONE, [1] + [0] * 9), (MOST, MOST))
    return folder


def table(path: Path, delimiter: str) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


def test_all_holds_every_variant_sorted_by_name(evaluations: Path, tmp_path: Path) -> None:
    (evaluations / ".rope.unfinished").mkdir()
    target = tmp_path / "reports" / "quick" / "compared"
    write_report(evaluations, target, "quick", "compared", BOTH, settings=SHOWN)
    assert {path.name for path in target.iterdir()} == FILES
    written = (target / "predictions.tsv").read_bytes()
    sources = [(evaluations / name / "predictions.tsv").read_bytes() for name in ("rope", "vanilla")]
    assert written == sources[0] + sources[1].split(b"\n", 1)[1]
    assert (target / "accuracy.csv").read_text().splitlines() == [
        "model,variant,init,accuracy",
        '"rope, scratch",rope,scratch,5.0',
        '"rope, pretrained",rope,pretrained,80.0',
        '"vanilla, scratch",vanilla,scratch,0.0',
        '"vanilla, pretrained",vanilla,pretrained,50.0',
    ]


def test_curves_are_thinned_and_keep_their_ends(evaluations: Path, tmp_path: Path) -> None:
    write_report(evaluations, tmp_path / "report", "quick", "rope", ["rope"], settings=SHOWN)
    rows = table(tmp_path / "report" / "curves.csv", ",")
    for phase in ("pretrain", "finetune_scratch", "finetune_pretrained"):
        for seed in ("1", "2"):
            steps = [int(row["step"]) for row in rows if (row["phase"], row["seed"]) == (phase, seed)]
            assert len(steps) <= 200
            assert (steps[0], steps[-1]) == (1, 300)
            assert steps == sorted(set(steps))


def test_page_follows_the_figures(evaluations: Path, tmp_path: Path) -> None:
    write_report(evaluations, tmp_path / "report", "quick", "compared", BOTH, settings=SHOWN)
    page = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    opening = "With pretraining **rope**, the highest of 2 variants but not told apart from vanilla, answers"
    assert page.startswith(f"# Knowledge Access: quick, all\n\n{opening}")
    assert "Where was Person 1 born? | Bergen | Bergen | 0.500 |" in page
    assert "Where was Person 9 born? | Nowhere | Genoa | 0.500 |" in page
    assert "95.8 % is the most that reading the pages can give" in page
    made = "| rope | 0123456789 | fedcba9876 | cpu | float32 | compiled | python 3.11.7, torch 2.13.0 | 2 | 75 |"
    assert f"{made} 1,234.6 |" in page
    assert page.index("| rope | 3,290,624 |") < page.index("| vanilla | 3,290,624 |")


def test_the_sections_are_in_the_order_of_the_argument(evaluations: Path, tmp_path: Path) -> None:
    write_report(evaluations, tmp_path / "report", "quick", "compared", BOTH, settings=SHOWN)
    page = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    assert [line[3:] for line in page.splitlines() if line.startswith("## ")] == [
        "Accuracy", "Are the differences real?", "What pretraining added", "Confidence and calibration", "Loss",
        "Answers", "How it was made",
    ]  # fmt: skip
    assert "bootstrap over questions and seeds" in page
    assert "bands show the range" not in page
    write_report(evaluations, tmp_path / "report", "handout", "compared", BOTH, settings=SHOWN)
    assert "bands show the range" in (tmp_path / "report" / "report.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("before", "held_out", "said"),
    [(None, 0, ""), (0, 0, "never"), (1, 0, "once"), (2, 0, "twice"), (7, 0, "7 times"), (1, 5, "")],
)
def test_the_page_says_how_often_dev_was_asked_before(
    before: int | None, held_out: int, said: str, evaluations: Path, tmp_path: Path
) -> None:
    write_baseline(evaluations, questions=10, accuracy=10.0, held_out=held_out)
    settings = SHOWN.model_copy(update={"dev_asked_before": before})
    write_report(evaluations, tmp_path / "report", "quick", "rope", ["rope"], settings=settings)
    page = " ".join((tmp_path / "report" / "report.md").read_text(encoding="utf-8").split())
    sentence = f"While this recipe was developed, dev was asked {said} before the run reported here."
    assert (sentence in page) == bool(said)
    assert ("While this recipe was developed" in page) == bool(said)
    assert ("was not counted" in page) == (before is None)


@pytest.mark.parametrize(("beams", "said"), [(1, "greedy"), (4, "the likeliest of a beam of 4 lines")])
def test_the_page_says_how_answers_are_decoded(beams: int, said: str, evaluations: Path, tmp_path: Path) -> None:
    write_report(evaluations, tmp_path / "report", "quick", "rope", ["rope"], settings=SHOWN, beams=beams)
    assert f"Answers are {said}." in (tmp_path / "report" / "report.md").read_text(encoding="utf-8")


def test_a_single_seed_is_said_to_be_one(evaluations: Path, tmp_path: Path) -> None:
    write_variant(evaluations, "rope", (NONE,), (MOST,))
    write_report(evaluations, tmp_path / "report", "quick", "rope", ["rope"], settings=SHOWN)
    page = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    assert "The interval is Wilson's" in page
    assert "all seeds" not in page


def test_page_without_right_answers_says_so(evaluations: Path, tmp_path: Path) -> None:
    write_variant(evaluations, "rope", (NONE,), (NONE,))
    write_report(evaluations, tmp_path / "report", "quick", "rope", ["rope"], settings=SHOWN)
    assert "**Right**\n\nNone.\n" in (tmp_path / "report" / "report.md").read_text(encoding="utf-8")


def test_hidden_questions_are_nowhere_in_the_folder(evaluations: Path, tmp_path: Path) -> None:
    write_variant(evaluations, "rope", (NONE, NONE), (NONE, NONE))  # no prediction names a gold place either
    target = tmp_path / "report"
    write_report(evaluations, target, "quick", "rope", ["rope"], settings=HIDDEN)
    for path in target.iterdir():
        content = path.read_text(encoding="utf-8")
        for secret in ("Where was", "Person", *PLACES):
            assert secret not in content, path.name
    rows = table(target / "predictions.tsv", "\t")
    assert {(row["question"], row["gold"]) for row in rows} == {("", "")}
    assert {row["predicted"] for row in rows} == {"Nowhere", "Rome"}
    assert "| 1 | Nowhere | 0.500 |" in (target / "report.md").read_text(encoding="utf-8")


def test_the_mark_of_changed_code_is_shown(evaluations: Path, tmp_path: Path) -> None:
    write_variant(
        evaluations, "rope", (NONE,), (MOST,), run={"provenance": PROVENANCE | {"commit": "0123456789abcdef+"}}
    )
    write_report(evaluations, tmp_path / "report", "quick", "rope", ["rope"], settings=SHOWN)
    page = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    assert "| rope | 0123456789+ | fedcba9876 |" in page
    assert "not all trained at the same commit" not in page


def test_variants_of_different_commits_are_said_to_be(evaluations: Path, tmp_path: Path) -> None:
    said = "The variants were not all trained at the same commit"
    for commit in ("0123456789abcdef", "f00000000000"):
        write_variant(
            evaluations, "rope", (NONE,) * 2, (MOST,) * 2, run={"provenance": PROVENANCE | {"commit": commit}}
        )
        write_report(evaluations, tmp_path / "report", "quick", "compared", BOTH, settings=SHOWN)
        page = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
        assert (said in page) == (commit != PROVENANCE["commit"])


def test_published_figures_stand_beside_those_of_the_same_questions(evaluations: Path, tmp_path: Path) -> None:
    for recipe, held_out in (("handout", 0), ("handout", 10), ("quick", 0)):
        write_baseline(evaluations, 10, 10.0, held_out=held_out)
        write_report(evaluations, tmp_path / "report", recipe, "compared", BOTH, settings=SHOWN)
        page = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
        assert ("| 31.8 (17.2 to 40.4) |" in page) == (recipe == "handout" and not held_out)
        assert ("published" in page.lower()) == (recipe == "handout" and not held_out)


def test_one_variant_opens_with_the_headlines_of_its_parts(evaluations: Path, tmp_path: Path) -> None:
    parts = [Part(Markdown("## A\n")), Part(Markdown("## B\n"), headline=Markdown("It knows more than it says."))]
    for selection, names in (("rope", ["rope"]), ("compared", BOTH)):
        write_report(evaluations, tmp_path / "report", "quick", selection, names, settings=SHOWN, parts=parts)
        opening = (tmp_path / "report" / "report.md").read_text(encoding="utf-8").split("\n\n")[1]
        assert opening.endswith(" It knows more than it says.") == (selection == "rope")


def test_a_hidden_page_shows_wrong_answers(evaluations: Path, tmp_path: Path) -> None:
    write_report(evaluations, tmp_path / "report", "quick", "rope", ["rope"], settings=HIDDEN)
    page = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    assert "| row | probability |" in page.partition("**Right**")[2].partition("**Wrong**")[0]
    assert "| 9 | Nowhere | 0.500 |" in page.partition("**Wrong**")[2]


def test_hidden_page_does_not_repeat_right_answers(evaluations: Path, tmp_path: Path) -> None:
    write_report(evaluations, tmp_path / "report", "quick", "rope", ["rope"], settings=HIDDEN)
    page = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    assert not any(place in page for place in PLACES)


def test_hostile_names_keep_the_page_and_the_table_whole(evaluations: Path, tmp_path: Path) -> None:
    hostile = 'A|B <img src=x> `c`\n\n# "D"\t{}'
    write_variant(evaluations, "$x^|<b>", (NONE,), (MOST,), person=hostile)
    write_report(evaluations, tmp_path / "report", "quick", "$x^|<b>", ["$x^|<b>"], settings=SHOWN)
    page = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    assert "<" not in re.sub("`[^`]*`", "", page)  # in a code span, as of a path, it is no markup
    assert 'A&#124;B &lt;img src=x&gt; &#96;c&#96; # "D" 1 born?' in page
    gained, answer = (line for line in page.splitlines() if '"D" 1 born' in line)
    assert (gained.count("|"), answer.count("|")) == (8, 6)
    rows = table(tmp_path / "report" / "predictions.tsv", "\t")
    assert rows[0]["question"] == f"Where was {hostile.format(1)} born?"
    ElementTree.parse(tmp_path / "report" / "accuracy.svg")
    ElementTree.parse(tmp_path / "report" / "loss.svg")


def test_same_input_gives_the_same_bytes(evaluations: Path, tmp_path: Path) -> None:
    folders = [tmp_path / "first", tmp_path / "second"]
    for folder in folders:
        write_report(evaluations, folder, "quick", "compared", BOTH, settings=SHOWN)
    for name in FILES:
        assert (folders[0] / name).read_bytes() == (folders[1] / name).read_bytes(), name


@pytest.mark.parametrize(
    "missing", ["baseline/baseline.json", "rope/predictions.tsv", "rope/curves.csv", "rope/run.json"]
)
def test_missing_input_is_told_in_one_line_and_leaves_the_old_report(
    evaluations: Path, tmp_path: Path, missing: str
) -> None:
    target = tmp_path / "report"
    write_report(evaluations, target, "quick", "compared", BOTH, settings=SHOWN)
    before = (target / "metrics.json").read_bytes()
    (evaluations / missing).unlink()
    with pytest.raises(StudyError, match="missing; make it with: dvc repro") as told:
        write_report(evaluations, target, "quick", "compared", BOTH, settings=SHOWN)
    assert missing in str(told.value)
    assert "\n" not in str(told.value)
    assert (target / "metrics.json").read_bytes() == before


def test_a_variant_that_was_not_evaluated_is_told(evaluations: Path, tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"window/predictions\.tsv: missing"):
        write_report(evaluations, tmp_path / "report", "quick", "window", ["window"], settings=SHOWN)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("run.json", "{"),
        ("run.json", "{}"),
        ("run.json", "[]"),
        ("predictions.tsv", "variant\tsplit\n"),
        ("predictions.tsv", ""),
        ("curves.csv", "variant,seed\n"),
    ],
)
def test_broken_input_names_its_file(evaluations: Path, tmp_path: Path, name: str, content: str) -> None:
    (evaluations / "rope" / name).write_text(content)
    with pytest.raises(StudyError, match=name) as told:
        write_report(evaluations, tmp_path / "report", "quick", "rope", ["rope"], settings=SHOWN)
    assert "\n" not in str(told.value)


def test_a_loss_that_is_no_number_is_refused(evaluations: Path, tmp_path: Path) -> None:
    write_variant(evaluations, "rope", (NONE,), (MOST,), run={"pretrain_loss": float("nan")})
    with pytest.raises(StudyError, match=r"run\.json: broken \(nan"):
        write_report(evaluations, tmp_path / "report", "quick", "rope", ["rope"], settings=SHOWN)


def test_metrics_file_is_what_the_page_tells(evaluations: Path, tmp_path: Path) -> None:
    write_report(evaluations, tmp_path / "report", "quick", "rope", ["rope"], settings=SHOWN)
    metrics = json.loads((tmp_path / "report" / "metrics.json").read_text(encoding="utf-8"))
    assert metrics["selected"]["dev_accuracy"] == 80.0
    assert "answers 80.0 % of the 10 dev questions" in (tmp_path / "report" / "report.md").read_text(encoding="utf-8")


def test_further_sections_stand_before_the_provenance_with_their_files(evaluations: Path, tmp_path: Path) -> None:
    parts = [Part(Markdown("## One\n\ntext *as it is*\n"), {"one.svg": "<svg/>"}), Part(Markdown("## Two\n\nmore\n"))]
    write_report(evaluations, tmp_path / "report", "quick", "compared", BOTH, settings=SHOWN, parts=parts)
    page = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    assert "\n\n## One\n\ntext *as it is*\n\n## Two\n\nmore\n\n## How it was made\n" in page
    assert {path.name for path in (tmp_path / "report").iterdir()} == FILES | {"one.svg"}


def test_the_opening_and_the_sections_tell_the_same_of_each_variant(tmp_path: Path) -> None:
    """Two right answers fewer than from scratch, or one fewer than the constant has, are no difference."""
    marks = {name: [1] * right + [0] * (40 - right) for name, right in (("none", 0), ("few", 2), ("many", 36))}
    write_baseline(tmp_path, 40, 10.0, place=PLACES[3])
    write_variant(tmp_path, "rope", (marks["none"],), (marks["many"],))
    write_variant(tmp_path, "wrnn", (marks["few"],), (marks["none"],))
    write_report(tmp_path, tmp_path / "report", "quick", "compared", ["rope", "wrnn"], settings=SHOWN)
    page = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    opening = page.split("![")[0]
    assert "Pretraining shows no change for wrnn; not told apart from answering Quito every time: wrnn; the" in opening
    assert "wrnn is not told apart from it" in page and "no change is shown for wrnn" in page
    assert "below" not in opening and "worse" not in opening


@pytest.mark.parametrize(("selection", "variants"), [("rope", ["rope"]), ("compared", BOTH)])
@pytest.mark.parametrize("held_out", [0, 10])
def test_the_page_says_what_makes_it_and_where_its_numbers_are(
    evaluations: Path, tmp_path: Path, selection: str, variants: list[str], held_out: int
) -> None:
    write_baseline(evaluations, 10, 10.0, held_out=held_out)
    write_report(evaluations, tmp_path / "report", "quick", selection, variants, settings=SHOWN)
    page = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    chosen = " -S recipes.quick.data.held_out=10" if held_out else ""
    command = f"dvc exp run -S recipe=quick -S model.variant={selection} -S 'recipes.quick.seeds=[1,2]'{chosen}"
    assert f"`{command}`" in page
    folder = "rope" if selection == "rope" else "<variant>"
    assert f"`data/evaluations/quick/{folder}/run.json`, which is not committed" in page
    beside = page.partition("## How it was made")[2]
    for name in re.findall(r"`(\w+\.\w+)`", beside):
        assert (tmp_path / "report" / name).is_file(), name


def test_rates_and_seconds_say_whose_they_are(evaluations: Path, tmp_path: Path) -> None:
    write_report(evaluations, tmp_path / "report", "quick", "compared", BOTH, settings=SHOWN)
    page = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    assert "| documents/s per seed |" in page and "different numbers of seeds do not compare" in page
    assert "| seconds of pretraining, all seeds added |" in page and "less time passes on the clock" in page
    provenance = PROVENANCE | {"device": "cpu (1 threads)", "kernels": "torch"}
    write_variant(evaluations, "rope", (NONE,), (MOST,), run={"provenance": provenance})
    write_report(evaluations, tmp_path / "report", "quick", "rope", ["rope"], settings=SHOWN)
    page = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    assert "all seeds added" not in page and "less time passes on the clock" not in page  # there is one seed
    assert "| cpu (1 thread) | float32 | torch's | python 3.11.7, torch 2.13.0 | 1 | 75 |" in page


def test_the_page_says_how_long_the_training_from_scratch_was(evaluations: Path, tmp_path: Path) -> None:
    write_report(evaluations, tmp_path / "report", "quick", "rope", ["rope"], settings=SHOWN)
    page = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    assert "From scratch is 20 epochs of finetuning on the training questions" in page.partition("## Loss")[0]
    path = evaluations / "rope" / "curves.csv"
    path.write_text(path.read_text().replace("finetune_scratch", "other"))
    write_report(evaluations, tmp_path / "report", "quick", "rope", ["rope"], settings=SHOWN)
    page = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    assert "From scratch is" not in page and "questions and seeds.\nAnswers are greedy." in page


@pytest.mark.parametrize("held_out", [0, 10])
def test_a_page_on_held_out_questions_says_so_first(evaluations: Path, tmp_path: Path, held_out: int) -> None:
    write_baseline(evaluations, 10, 10.0, held_out=held_out)
    write_report(evaluations, tmp_path / "report", "quick", "compared", BOTH, settings=SHOWN)
    page = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    told = page.split("\n\n")[1].startswith("**A run to choose by.** What is called dev here are 10 questions")
    assert told == bool(held_out)
