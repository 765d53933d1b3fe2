"""The tables of the report: what variants answer beside baselines and public runs, their errors, what is memorised."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import nan
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats  # type: ignore[import-untyped]

from stages.reporting.evaluations import PROBED, Baseline, Evaluation
from stages.reporting.markdown import Markdown, estimate, percent, shares_table, table
from stages.reporting.statistics import Difference, Marks, accuracy_interval, compare_trainings, wilson

ALL_PAIRS = 5  # more variants are compared with one of them alone: the correction grows with the number of pairs
MOST_FORMS = 12  # have a row of their own
OTHER_FORM = "another form"
TRAINED = {"never": 0, "once": 1, "2 to 5 times": 2, "more often": 6}  # heading: the least number of training questions
MOST_WRONG = (2, 5)  # percent of the given answers
# origin: heading, of answers that stand in no page of the name
ELSEWHERE = {"training_answer": "training answer", "corpus": "other page", "hallucination": "nowhere", "empty": "empty"}
ERROR_KINDS = {
    "correct": "correct",
    "own_page": "choice",
    "retrieval": "retrieval",
    **ELSEWHERE,
    "lacks": "page lacks it",
}
SHOWN_FORMS = ("continuation", "cloze", "words", "infilling", "other_name")  # page forms, in the order of the table
OFFSET = "offset_"  # with the number of characters, a measure of extraction.csv
# A row for each published file of predictions; see docs/reproduction.md
RUNS = Path(__file__).parents[2] / "docs" / "public_runs.tsv"
FROM_SCRATCH = "scratch"  # the variant of all runs without pretraining

Array = npt.NDArray[np.float64]


def answers_table(evaluations: Sequence[Evaluation], baseline: Baseline) -> Markdown:
    """Return accuracies with intervals, and how often the reader's answer is given, in percent; the ceiling is last."""
    is_marked = any(evaluation.test for evaluation in evaluations)  # whether the data have answers to test
    header = ["answers", "pretrained", "from scratch", *(["test"] if is_marked else []), "as the reader"]
    baselines = baseline.titles("reader", "rule", "letters", "constant")
    given = given_answers(evaluations, baselines)
    like_reader = {name: percent((answers == given["the reader"]).mean()) for name, answers in given.items()}

    rows: list[tuple[str, ...]] = []
    for evaluation in evaluations:
        columns = [evaluation.pretrained, evaluation.scratch, *([evaluation.test] if is_marked else [])]
        shown = [estimate(answers.mean, answers.interval) if answers else "" for answers in columns]
        rows.append((evaluation.variant, *shown, like_reader[evaluation.variant]))
    blank = [""] * (len(header) - 3)
    for name, title in baselines.items():
        accuracy = baseline.accuracy[name]
        low, high = wilson(accuracy / 100, baseline.dev_questions)
        rows.append((title, estimate(accuracy, (100 * low, 100 * high)), *blank, like_reader[title]))
    rows.append(("ceiling", f"{baseline.ceiling:.1f}", *blank, ""))
    return table(header, rows)


def given_answers(evaluations: Sequence[Evaluation], baselines: Mapping[str, str]) -> dict[str, npt.NDArray[np.str_]]:
    """Return what each pretrained variant and each baseline answers to the dev questions: (N, seeds) by title."""
    asked = evaluations[0].pretrained.asked
    of_variants = {evaluation.variant: evaluation.pretrained.predicted for evaluation in evaluations}
    return of_variants | {title: asked[[name]].to_numpy(str) for name, title in baselines.items()}


def forms_table(evaluations: Sequence[Evaluation], baseline: Baseline) -> Markdown:
    """Return the accuracy of each pretrained variant and of reader and rule by form of question; empty with one form.

    The commonest forms have a row each, with how many dev questions have it.
    """
    asked = evaluations[0].pretrained.asked
    gold = asked[["gold"]].to_numpy(str)
    common = asked.form[asked.form != ""].value_counts().index[:MOST_FORMS]
    form = asked.form.where(asked.form.isin(common), OTHER_FORM)
    given = given_answers(evaluations, baseline.titles("reader", "rule"))
    rows = []
    for name in [*common, OTHER_FORM]:
        of_form = (form == name).to_numpy()
        if of_form.any():
            shares = [percent((answers == gold)[of_form].mean()) for answers in given.values()]
            rows.append((name, of_form.sum(), *shares))
    return table(["form", "dev questions", *given], rows) if len(rows) > 1 else Markdown()


def questions_table(evaluations: Sequence[Evaluation], baseline: Baseline) -> Markdown:
    """Return the accuracy of each pretrained variant and baseline on groups of dev questions, counted in the first row.

    Groups: how many training questions have the same gold answer, and where the reader or the rule is wrong though the
    page has the answer; the last column is how often the rule's answer is given there. A group without a question has
    no column.
    """
    asked = evaluations[0].pretrained.asked
    given = given_answers(evaluations, baseline.titles("reader", "rule", "constant"))

    trained = pd.cut(asked.training_questions, [*TRAINED.values(), np.inf], right=False, labels=[*TRAINED])
    groups = {name: (trained == name).to_numpy() for name in TRAINED}
    in_page = asked.row.isin(evaluations[0].extraction.row)
    groups |= {f"the {name} errs": ((asked[name] != asked.gold) & in_page).to_numpy() for name in ("reader", "rule")}
    rule_errs = groups["the rule errs"]
    groups = {name: members for name, members in groups.items() if members.any()}

    gold = asked[["gold"]].to_numpy(str)
    rows: list[tuple[object, ...]] = [("dev questions", *(members.sum() for members in groups.values()))]
    rows += [
        (name, *(percent((answers == gold)[of].mean()) for of in groups.values())) for name, answers in given.items()
    ]
    header = ["answers", *groups]
    if rule_errs.any():
        same = [percent((answers == given["the rule"])[rule_errs].mean()) for answers in given.values()]
        rows = [(*row, cell) for row, cell in zip(rows, [rule_errs.sum(), *same], strict=True)]
        header.append("as the rule, where it errs")
    return table(header, rows)


def differences_between(evaluations: Sequence[Evaluation], reference: str) -> list[Difference]:
    """Compare all pairs of variants, the better one first; if they are many, the pairs with `reference` alone."""
    marks = {evaluation.variant: evaluation.pretrained.correct for evaluation in evaluations}
    return compare_trainings(
        marks, [pair for pair in combinations(marks, 2) if len(marks) <= ALL_PAIRS or reference in pair]
    )


def kinds_table(evaluations: Sequence[Evaluation]) -> Markdown:
    """Return the shares of each pretrained variant's answers to dev by their kind, in percent, all seeds together.

    Where the own page has the right answer, an error is one of choice or of retrieval; further columns part the latter.
    """
    rows = {}
    for evaluation in evaluations:
        origins = evaluation.origins.query("asked == 'dev' and init == 'pretrained'")
        has_answer = origins.row.isin(evaluation.extraction.row)
        kind = origins.origin.where(has_answer | (origins.origin == "correct"), "lacks")
        rows[evaluation.variant] = {title: (kind == name).mean() for name, title in ERROR_KINDS.items()}
        rows[evaluation.variant]["retrieval"] = kind.isin(ELSEWHERE).mean()
    return shares_table("variant", rows)


def risk_table(evaluations: Sequence[Evaluation], place: str) -> Markdown:
    """Return for each pretrained variant, in percent: how often it says `place`, mean probability, AUROC, coverage.

    AUROC and coverage are computed for each seed alone; the cells are the means. Where unseen names were asked, the
    last column is the share of the answers to them that answer a training question.
    """
    rows = {}
    for evaluation in evaluations:
        answers = evaluation.pretrained
        seeds = [*zip(answers.probability.T, answers.correct.T, strict=True)]
        shares = {f"says {place}": (answers.predicted == place).mean(), "mean probability": answers.probability.mean()}
        shares["AUROC"] = np.mean([auroc(*seed) for seed in seeds])
        for most in MOST_WRONG:
            shares[f"answered, ≤ {most} % wrong"] = np.mean([coverage(*seed, most) for seed in seeds])
        of_unseen = evaluation.origins.query("asked == 'unseen'").origin
        if len(of_unseen):
            shares["training answer to an unseen name"] = (of_unseen == "training_answer").mean()
        rows[evaluation.variant] = shares
    return shares_table("variant", rows)


def auroc(probability: Array, correct: Marks) -> float:
    """Return the share of pairs of a right and a wrong answer in which the right one is the more probable.

    A tie counts one half. NaN without a right or without a wrong answer. `probability` and `correct`: (N,). The area
    under the ROC curve by ranks: Hanley & McNeil 1982 (Radiology).
    """
    right, wrong = probability[correct == 1], probability[correct == 0]
    if not len(right) or not len(wrong):
        return nan
    return float(stats.mannwhitneyu(right, wrong, method="asymptotic").statistic / (len(right) * len(wrong)))


def coverage(probability: Array, correct: Marks, most_wrong: int) -> float:
    """Return the largest share of surest answers of which at most `most_wrong` percent are wrong; 0 without one.

    A threshold gives answers of equal probability together or not at all. `probability` and `correct`: (N,), N > 0.
    """
    surest_first = np.argsort(-probability)
    given = np.arange(1, len(probability) + 1)
    wrong = np.cumsum(correct[surest_first] == 0)

    is_threshold = np.append(np.diff(probability[surest_first]) < 0, True)
    allowed = is_threshold & (100 * wrong <= most_wrong * given)
    return float(given[allowed].max(initial=0) / len(probability))


def memorised_table(evaluations: Sequence[Evaluation]) -> Markdown:
    """Return the shares of the facts that each variant has memorised and extracts, in percent, all seeds together."""
    rows = {}
    for evaluation in evaluations:
        facts = evaluation.extraction
        rows[evaluation.variant] = {
            "memorised": facts.pretrained_memorised.mean(),
            "extracted": facts.finetuned_extracted.mean(),
            "extracted of memorised": facts[facts.pretrained_memorised == 1].finetuned_extracted.mean(),
        }
    return shares_table("variant", rows)


def extraction_shares(evaluations: Sequence[Evaluation]) -> pd.DataFrame:
    """Return extraction.csv: variant, weights, measure, share (0…1), ci_low, ci_high; no question, name or place.

    Measures are what is memorised and extracted, the page forms that pretraining practised and the offsets.
    """
    rows = []
    for evaluation in evaluations:
        facts = evaluation.extraction
        forms = [form for form in SHOWN_FORMS if {f"{weights}_{form}" for weights in PROBED} <= {*facts}]
        for weights in PROBED:
            tables = {name: (facts, f"{weights}_{name}") for name in ("memorised", "extracted", *forms)}
            moved = evaluation.prefix_offset.groupby("offset")
            tables |= {f"{OFFSET}{offset}": (of_offset, weights) for offset, of_offset in moved}
            for measure, (outcomes, column) in tables.items():
                marks = outcomes.pivot(index="row", columns="seed", values=column).to_numpy(np.int64)
                rows.append((evaluation.variant, weights, measure, float(marks.mean()), *accuracy_interval(marks)))
    return pd.DataFrame(rows, columns=["variant", "weights", "measure", "share", "ci_low", "ci_high"])


def measures_of(shares: pd.DataFrame) -> list[str]:
    """Return the measures of the table: the forms that a variant practised, the question, the offsets."""
    measures = shares.measure.unique()
    offsets = [name for name in measures if name.startswith(OFFSET)]
    return [*(form for form in SHOWN_FORMS if form in measures), "extracted", *offsets]


def forms_reached_table(shares: pd.DataFrame) -> Markdown:
    """Return cells `pretrained → finetuned`, a row a variant, in percent; a dash for what a variant was not asked."""
    measures = measures_of(shares)
    titles = ["question" if name == "extracted" else name.replace("_", " ") for name in measures]
    rows = []
    for variant, of_variant in shares.groupby("variant", sort=False):
        pairs = of_variant.pivot(index="measure", columns="weights", values="share").reindex(measures)[[*PROBED]]
        cells = ["–" if np.isnan(pair).all() else " → ".join(map(percent, pair)) for pair in pairs.to_numpy()]
        rows.append((variant, *cells))
    return table(["variant", *titles], rows)


def public_runs() -> pd.DataFrame:
    """Return the public runs, with their accuracy in percent of the 500 dev questions."""
    runs = pd.read_csv(RUNS, sep="\t", keep_default_na=False)
    return runs.assign(accuracy=runs.right_of_500 / 5)


def seeds_among(runs: pd.DataFrame, evaluations: Sequence[Evaluation]) -> dict[str, list[float]]:
    """Return the accuracies of this project's seeds by variant that has runs; all from scratch are one variant."""
    shown = [evaluation for evaluation in evaluations if evaluation.variant in {*runs.variant}]
    seeds = {evaluation.variant: evaluation.pretrained.by_seed for evaluation in shown}
    return seeds | {FROM_SCRATCH: [accuracy for evaluation in evaluations for accuracy in evaluation.scratch.by_seed]}


def public_table(runs: pd.DataFrame, seeds: Mapping[str, Sequence[float]]) -> Markdown:
    """Return a row for each variant: the runs without a known fault, and this project's seeds with their ranks."""
    header = ("variant", "public runs", "without known fault", "median, %", "range, %", "here, each seed: % (rank)")
    rows = []
    for variant, accuracies in seeds.items():
        of_variant = runs[runs.variant == variant]
        sound = of_variant[of_variant.fault == ""].accuracy
        ranks = [f"{seed:.1f} ({1 + (sound > seed).sum()} of {len(sound) + 1})" for seed in accuracies]
        spread = f"{sound.min():.1f} to {sound.max():.1f}"
        here = ", ".join(ranks) if variant != FROM_SCRATCH else f"{min(accuracies):.1f} to {max(accuracies):.1f}"
        rows.append((variant, len(of_variant), len(sound), f"{sound.median():.1f}", spread, here))
    return table(header, rows, numbers=slice(1, 5))
