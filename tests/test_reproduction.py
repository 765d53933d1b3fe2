"""docs/reproduction.md: each figure is recomputed from the committed tables, or is one that a report states."""

import re
from io import BytesIO

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from stages.reporting.statistics.significance import compare_trainings
from tests.support.pages import TEXTS, committed, published, rows_of, without_links
from tests.support.tiny import ROOT

PAGE = " ".join(TEXTS["docs/reproduction.md"].split())
# Report B's losses of an epoch's last batch; the report prints no others
SOURCE = pd.read_csv(ROOT / "docs/source_losses.tsv", sep="\t").set_index(["phase", "epoch"]).loss
PRETRAINING = SOURCE["pretrain", 634]
FROM_SCRATCH = SOURCE["finetune_scratch"].to_dict()
STATED = {  # (report, variant) → right of 500
    ("A", "vanilla"): 93,
    ("B", "vanilla"): 58,
    ("C", "vanilla"): 111,
    ("A", "perceiver"): 25,
    ("B", "perceiver"): 31,
    ("C", "synthesizer"): 119,
}
STATED_FROM_SCRATCH = (10, 2, 6)  # reports A, B and C: right of 500
FINETUNING = {  # as the page names it → as the table of marks does
    "of the report": "report",
    "as handout has it": "as_is",
    "as in the starter code": "starter_code",
    "in the starter code's order": "not_shuffled",
}


@pytest.fixture(autouse=True)
def of_the_project() -> None:
    """Skip where somebody's own report stands in the place of the project's."""
    if published("handout/compared") is None:
        pytest.skip("the committed report of handout is somebody's own")


def table(path: str, separator: str = ",", dtype: type | None = None) -> pd.DataFrame:
    """A table of the last commit."""
    return pd.read_csv(BytesIO(committed(path)), sep=separator, keep_default_na=False, dtype=dtype)


def losses(phase: str) -> pd.DataFrame:
    """Vanilla's losses: a row an epoch, a column a seed."""
    curves = table("reports/handout/compared/curves.csv")
    return curves[(curves.variant == "vanilla") & (curves.phase == phase)].pivot(
        index="epoch", columns="seed", values="loss"
    )


def accuracies(weights: str) -> dict[str, pd.Series]:
    """Each variant's accuracies on dev in percent, a value a seed."""
    answers = table("reports/handout/compared/predictions.tsv", "\t")
    dev = answers[(answers.split == "dev") & (answers.init == weights)]
    right = dev.assign(correct=dev.correct.astype(float)).groupby(["variant", "seed"]).correct
    assert (right.size() == 500).all()
    shares = 100 * right.mean()
    return {variant: shares[variant] for variant in shares.index.unique("variant")}


def predicted(values: pd.Series) -> tuple[float, float]:
    """The 95 % interval of one more value: m ± t · s · √(1 + 1/n)."""
    n = len(values)
    reach = stats.t.ppf(0.975, n - 1) * values.std(ddof=1) * (1 + 1 / n) ** 0.5
    return values.mean() - reach, values.mean() + reach


def public(fault: str = "") -> dict[str, pd.Series]:
    """Each variant's public runs with the fault, or without a known one: how many of 500 answers are right."""
    runs = table("docs/public_runs.tsv", "\t")
    return dict(iter(runs[runs.fault == fault].groupby("variant").right_of_500))


def test_the_losses_are_those_of_the_curves_and_of_the_report() -> None:
    curves = {"pretraining": losses("pretrain"), "from scratch": losses("finetune_scratch")}
    readings = {"pretraining": {634: PRETRAINING}, "from scratch": FROM_SCRATCH}
    for phase, epoch, report, mean, seeds in rows_of(TEXTS["docs/reproduction.md"], "| phase | epoch |"):
        values = curves[phase].loc[int(epoch)]
        assert report == f"{readings[phase][int(epoch)]:.3f}"
        assert (mean, seeds) == (f"{values.mean():.3f}", f"{values.min():.3f} to {values.max():.3f}"), (phase, epoch)


def test_what_is_said_of_the_losses_is_so() -> None:
    curves = losses("pretrain")
    last = curves.loc[627:].to_numpy()
    assert f"the report is {curves.loc[634].min() - PRETRAINING:.3f} below the lowest seed" in PAGE
    assert f"the three seeds lie between {last.min():.3f} and {last.max():.3f}" in PAGE
    assert last.min() < PRETRAINING < last.max()

    curves = losses("finetune_scratch")
    mean = curves.mean(axis=1)
    readings = pd.Series(FROM_SCRATCH)
    below = mean[readings.index] - readings
    assert (readings < curves.loc[readings.index].min(axis=1)).all()
    assert f"All its {len(readings)} legible readings lie below all three seeds" in PAGE
    assert f"and {below.min():.3f} to {below.max():.3f} below their mean" in PAGE

    later = [mean.index[mean <= loss][0] - epoch for epoch, loss in readings.items() if (mean <= loss).any()]
    assert (min(later), max(later)) == (3, 7)
    assert f"to {len(later)} of these losses within the {mean.index[-1]} epochs, three to seven epochs later" in PAGE


def test_a_training_lies_in_the_interval_of_its_row() -> None:
    seeds, runs = accuracies("pretrained"), public()
    rows = rows_of(TEXTS["docs/reproduction.md"], "| report | variant |")
    inside = []
    for report, name, right, stated, mean, interval, holds, fewer in rows:
        variant = name.partition(",")[0]
        number = STATED[report, variant]
        low, high = predicted(seeds[variant])
        inside.append(low <= number / 5 <= high)
        assert (right, stated) == (str(number), f"{number / 5:.1f} %")
        assert (mean, interval) == (f"{seeds[variant].mean():.1f} %", f"{low:.1f} to {high:.1f} %"), name
        assert holds == ("yes" if inside[-1] else "no"), (report, name)
        assert fewer == f"{(runs[variant] < number).sum()} of {len(runs[variant])}", (report, name)
    assert len(rows) == len(STATED) and sum(inside) == 2 and "**Two of the six lie inside**" in PAGE
    assert f"t = {stats.t.ppf(0.975, 2):.3f} is the 97.5 % quantile" in PAGE


def test_the_intervals_hold_so_many_public_runs_and_those_of_means_two_medians() -> None:
    seeds, runs = accuracies("pretrained"), public()
    results = (published("handout/compared") or {})["variants"]
    held = {}
    for variant, values in seeds.items():
        shares, result = runs[variant] / 5, results[variant]
        held[variant] = f"{shares.between(*predicted(values)).sum()} of {len(shares)}"
        assert shares.median() < result["dev_accuracy_ci_high"]
        assert (shares.median() > result["dev_accuracy_ci_low"]) == (variant in ("rope", "vanilla"))
    assert f"They hold {held['vanilla']} public runs of vanilla, {held['rope']} of rope" in PAGE
    assert f"{held['synthesizer']} of the synthesizer, and {held['perceiver']} of the perceiver" in PAGE


def test_from_scratch_all_are_near_zero() -> None:
    here = pd.concat(accuracies("scratch").values())
    runs = public()["scratch"] / 5
    a, b, c = (number / 5 for number in STATED_FROM_SCRATCH)
    assert len(here) == 12
    assert f"From scratch the reports state {a:.1f}, {b:.1f} and {c:.1f} %" in PAGE
    assert f"twelve trainings answer {here.min():.1f} to {here.max():.1f} %" in PAGE
    assert f"public runs {runs.min():.1f} to {runs.max():.1f} %" in PAGE


def test_the_readings_rest_on_committed_figures() -> None:
    faulty = public("vanilla by code")["synthesizer"] / 5
    vanilla = accuracies("pretrained")["vanilla"]
    figures = published("handout/compared") or {}
    assert f"all {len(faulty)} public synthesizers that are vanilla by their code" in PAGE
    assert f"answer {faulty.min():.1f} to {faulty.max():.1f} %" in PAGE
    assert f"differ here by up to {vanilla.max() - vanilla.min():.1f} points" in PAGE
    assert STATED["A", "perceiver"] / 5 == figures["baseline"]["dev_accuracy"]
    for variant in ("vanilla", "perceiver"):
        assert re.search(rf"{figures['variants'][variant]['parameters']:,} \({variant}\)", PAGE)


def test_beam_search_answers_more_and_copies_more() -> None:
    calibration = rows_of(committed("reports/handout/compared/report.md").decode(), "| variant | greedy, % |")
    gains = [float(beam) - float(greedy) for _, greedy, _, _, beam, _ in calibration]
    assert f"answer {min(gains):.1f} to {max(gains):.1f} points more" in PAGE

    text = committed("reports/method/report.md").decode()
    rows = {way: shares for way, _, *shares in rows_of(text, "| characters | log-likelihood")}
    (repeats, copies), (less, fewer) = rows["beam search, 8 hypotheses"], rows["top-k, 10"]
    assert f"eight hypotheses repeat {repeats} % and copy {copies} %" in PAGE
    assert f"ten likeliest characters repeat {less} % and copy {fewer} %" in PAGE


def trained_again() -> dict[tuple[str, str], dict[str, np.ndarray]]:
    """Marks of (questions, seeds) by their first weights, of each variant and finetuning in the second table."""
    marks = {}
    again = table("docs/trained_again.tsv", "\t", str)
    for cell, trainings in again.groupby(["variant", "finetuning"]):
        assert [*trainings.seed] == ["1", "2", "3"][: len(trainings)]
        marks[cell] = {
            init: np.array([[*row] for row in trainings[init]]).astype(int).T for init in ("pretrained", "scratch")
        }
    answers = table("reports/handout/compared/predictions.tsv", "\t")
    for variant, rows in answers[answers.split == "dev"].groupby("variant"):
        marks[variant, "report"] = {
            init: of_init.pivot(index="row", columns="seed", values="correct").astype(float).to_numpy()
            for init, of_init in rows.groupby("init")
        }
    return marks


def ranks(runs: pd.Series, right: np.ndarray) -> list[int]:
    """The place of each training beside the public runs."""
    return [int((runs > one).sum()) + 1 for one in right]


def name_of(cell: str) -> str:
    """A variant of the page as the table of marks names it."""
    return "perceiver_six" if cell.startswith("perceiver") else cell


def test_what_was_trained_again_has_the_figures_of_the_committed_marks() -> None:
    marks = trained_again()
    variant, shown = "", []
    for name, finetuning, *cells in rows_of(TEXTS["docs/reproduction.md"], "| variant | finetuning | seed 1 |"):
        variant = name_of(name) or variant
        shown.append((variant, FINETUNING[finetuning.partition(",")[0]]))
        right, scratch = (marks[shown[-1]][init] for init in ("pretrained", "scratch"))
        assert len(right) == len(scratch) == 500
        counts = [f"{one:.0f} ({other:.0f})" for one, other in zip(right.sum(axis=0), scratch.sum(axis=0), strict=True)]
        assert [cell for cell in cells[:3] if cell] == counts, shown[-1]
        assert cells[3] == (f"{100 * right.mean():.1f}" if len(counts) == 3 else ""), shown[-1]
    assert {cell for cell in marks if cell[1] != "report"} < set(shown), "each training that is committed is shown"


def test_the_starter_codes_finetuning_is_compared_by_the_rule_and_by_pairs() -> None:
    marks = trained_again()
    losses_at_most = {}  # in points, where the interval of the same weights ends
    shown = rows_of(TEXTS["docs/reproduction.md"], "| variant | questions, by seed |")
    for name, questions, rule, p, paired, paired_p in shown:
        both = {way: marks[name_of(name), way]["pretrained"] for way in ("starter_code", "as_is")}
        (difference,) = compare_trainings(both, [("starter_code", "as_is")])
        assert rule == difference.shown(), name

        less = (both["starter_code"] - both["as_is"]).sum(axis=0)
        assert questions == ", ".join(f"{count:+d}" for count in less), name
        assert len(less) == 3, name
        assert p == f"{difference.p:.2f}", name
        pairs = stats.ttest_rel(both["starter_code"].mean(axis=0), both["as_is"].mean(axis=0))
        low, high = pairs.confidence_interval(0.95)
        assert paired == f"{less.mean() / 5:+.1f} ({100 * low:+.1f} to {100 * high:+.1f})", name
        assert paired_p == f"{pairs.pvalue:.2f}", name
        loses = f"loses {-100 * high:.1f} to {-100 * low:.1f} points by it"
        assert (loses in PAGE) == (pairs.pvalue < 0.05) == name.startswith("perceiver")
        losses_at_most[name] = -100 * low
    assert {name_of(row[0]) for row in shown} == {variant for variant, way in marks if way == "starter_code"}

    vanilla, rope = (losses_at_most[name] for name in ("vanilla", "rope"))
    assert f"end at a loss of {vanilla:.1f} points for vanilla and {rope:.1f} for rope" in PAGE
    as_is, lost = (marks["vanilla", way]["pretrained"] for way in ("as_is", "starter_code"))
    one, other = ((first & (1 - second)).sum(axis=0) for first, second in ((as_is, lost), (lost, as_is)))
    ends = "of each seed of vanilla {} to {} questions are right in one way alone, and {} to {} in the other"
    assert ends.format(min(one), max(one), min(other), max(other)) in PAGE


def test_the_mean_of_vanilla_comes_again_and_ropes_low_ranks_do_not() -> None:
    again = table("docs/trained_again.tsv", "\t", str)
    seed_losses = again[again.variant == "vanilla"].drop_duplicates("seed").pretraining_loss.astype(float)
    others = [*losses("pretrain").iloc[-1], *seed_losses[seed_losses < seed_losses.max()]]
    marks = trained_again()
    trainings = [marks["vanilla", way]["pretrained"].sum(axis=0) for way in ("report", "as_is")]
    assert seed_losses.argmax() == trainings[1].argmin() and max(others) < seed_losses.max()
    assert f"loss, {seed_losses.max():.3f} nats; the other five have {min(others):.3f} to {max(others):.3f}." in PAGE

    runs = public()["vanilla"]
    places = ranks(runs, np.concatenate(trainings))
    assert places[3:] == [64, 3, 3] and sorted(places)[4:] == [18, 64] and len(runs) + 1 == 114
    public_page = without_links(" ".join(TEXTS["docs/public-runs.md"].split()))
    assert "trained again they would be at 3, 3 and 64" in public_page

    runs = public()["rope"]
    of_report, again_of_rope = (marks["rope", way]["pretrained"].sum(axis=0) for way in ("report", "as_is"))
    assert ranks(runs, of_report) == [19, 11, 21] and ranks(runs, again_of_rope) == [7, 7, 5] and len(runs) + 1 == 24
    assert "seeds are at 11, 19 and 21 of 24, trained again at 5, 7 and 7." in PAGE
    assert "trained again at 5, 7 and 7;" in public_page
    six = np.concatenate([of_report, again_of_rope])
    assert f"The six beside each other differ by up to {(six.max() - six.min()) / 5:.1f} points." in PAGE
    spread = accuracies("pretrained")["perceiver"].mean() - public()["perceiver"].median() / 5
    assert f"`handout` lies {spread:.1f} above the public median" in PAGE


def test_the_wider_perceiver_is_compared_as_its_marks_say() -> None:
    notes = " ".join(TEXTS["docs/notes.md"].split())
    rows = table("docs/trained_again.tsv", "\t", str)
    wider = rows[(rows.variant == "perceiver_six") & (rows.finetuning == "as_is")]
    known = [marks.replace("-", "") for marks in wider.memorised]
    memorised = ", ".join(f"{100 * marks.count('1') / len(marks):.1f}" for marks in known)
    answered = ", ".join(f"{marks.count('1') / 5:.1f}" for marks in wider.pretrained)
    course = ", ".join(f"{value:.1f}" for value in accuracies("pretrained")["perceiver"])
    assert f"| {memorised} / " in notes and f"| {answered} / {course} |" in notes

    marks = trained_again()
    both = {
        "wider": marks["perceiver_six", "as_is"]["pretrained"],
        "course": marks["perceiver", "report"]["pretrained"],
    }
    (difference,) = compare_trainings(both, [("wider", "course")])
    said = f"{difference.points:.1f} points, {difference.ci_low:.1f} to {difference.ci_high:.1f}"
    assert f"and {difference.p:.2f} ({said})" in notes
