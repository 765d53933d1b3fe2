"""The report's section on what a model knows in the page's words, and what of it can be asked."""

from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from stages.reporting.markdown import Markdown, escape, table
from stages.reporting.sections.knowledge_figure import FEW, knowledge_svg
from stages.reporting.sections.probes import (
    ASKED,
    ASKED_BEFORE,
    ENOUGH,
    FORMS,
    RANKS,
    Probe,
    best_asked,
    marks,
    percent,
    read_probes,
)
from stages.reporting.sections.ranks import ranks_finding, ranks_table
from stages.reporting.statistics.intervals import accuracy_interval, wilson
from stages.reporting.statistics.significance import YES, Sample, compare_pairs
from stages.reporting.template import Part, fill

TEMPLATE = "knowledge.md.jinja"

Bounds = dict[str, tuple[float, float]]  # of each group, both included
POSITIONS: Bounds = {"0–31": (0, 31), "32–63": (32, 63), "64–95": (64, 95), "from 96": (96, np.inf)}
FREQUENCIES: Bounds = {"never": (0, 0), "once": (1, 1), "2–4": (2, 4), "5–19": (5, 19), "20 or more": (20, np.inf)}
SENTENCES: Bounds = {"“born” before": (1, 1), "other words": (0, 0)}
SPLITS: dict[str, tuple[str, Bounds]] = {
    "characters of the page before the place": ("position", POSITIONS),
    "place among the training answers": ("train_count", FREQUENCIES),
    "words before the place": ("born", SENTENCES),
}  # title: column, groups


def knowledge_part(folder: Path, variants: Sequence[str]) -> Part | None:
    """The section made from `<folder>/<variant>/` of those of `variants` that were probed; None without any fact.

    It holds shares only, no question, name or place. Raises StudyError where a probe is broken.
    """
    probes = [probe for probe in read_probes(folder, variants) if probe.facts]
    if not probes:
        return None
    shown, grouped = best_asked(probes), groups(probes)
    text = fill(
        TEMPLATE,
        shown=shown,
        findings=findings(probes),
        forms_table=forms_table(probes),
        groups_table=groups_table(grouped, shown.variant),
        ranks_finding=ranks_finding(shown),
        ranks_table=ranks_table(probes),
        few=FEW,
        untrained=[form for form in FORMS if form not in shown.trained_forms],
    )
    rows = pd.concat([pd.DataFrame([overall(probe) for probe in probes]), grouped])
    return Part(
        text,
        {
            "knowledge.svg": knowledge_svg(grouped, variants),
            "knowledge.csv": rows.round(4).to_csv(index=False, lineterminator="\n"),
        },
    )


def headline(probe: Probe) -> Markdown:
    """What is known beside what can be asked, in one sentence."""
    memorised, asked = (percent(probe.known[column].mean()) for column in ("memorised", ASKED))
    return Markdown(
        f"Of the places that stand in the people's pages its pretrained weights spell {memorised} % in a form of these "
        f"pages, and it answers {asked} % when asked."
    )


def overall(probe: Probe) -> dict[str, object]:
    """All facts of a variant as a row of knowledge.csv: every share, and every mean log-probability."""
    return {"variant": probe.variant, "by": "all", "group": "all", **_shares(probe.known)}


def groups(probes: Sequence[Probe]) -> pd.DataFrame:
    """A row for each variant, split and group that holds a fact, in the order of `SPLITS`; columns as `overall`."""
    rows = []
    for probe in probes:
        for title, (column, bounds) in SPLITS.items():
            for name, (low, high) in bounds.items():
                inside = probe.known[probe.known[column].between(low, high)]
                if len(inside):
                    rows.append({"variant": probe.variant, "by": title, "group": name, **_shares(inside)})
    return pd.DataFrame(rows)


def forms_table(probes: Sequence[Probe]) -> Markdown:
    """Shares of the facts said in each form, before and after finetuning, in percent."""
    trained = probes[0].trained_forms
    header = (
        "variant", "memorised, %", *(f"{form}{'' if form in trained else ' (not practised)'}, %" for form in FORMS),
        f"{probes[0].control} with another name, %", "asked, %", "asked of memorised, %", "asked of others, %",
    )  # fmt: skip
    rows = []
    for probe in probes:
        known, shares = probe.known, _shares(probe.known)
        others = known[known.memorised == 0]
        rows.append(
            (
                probe.variant,
                f"{percent(known.memorised.mean())} → {percent(known.kept.mean())}",
                *(
                    f"{percent(known[f'pretrained_{form}'].mean())} → {percent(known[f'finetuned_{form}'].mean())}"
                    for form in (*FORMS, "other_name")
                ),
                f"{percent(known[ASKED_BEFORE].mean())} → {percent(shares['asked'])}",
                percent(shares["asked_of_memorised"]),
                percent(others[ASKED].mean()),
            )
        )
    return table(header, rows, right=header[1:])


def groups_table(grouped: pd.DataFrame, variant: str) -> Markdown:
    """The groups of one variant."""
    header = ("split by", "group", "facts", "memorised, %", "asked, %", "asked of memorised, %")
    rows = [
        (
            row["by"],
            row["group"],
            row["facts"],
            *(percent(row[name]) for name in ("memorised", "asked", "asked_of_memorised")),
        )
        for row in grouped[grouped.variant == variant].to_dict("records")
    ]
    return table(header, rows, right=header[2:])


def findings(probes: Sequence[Probe]) -> Markdown:
    """The section's result in sentences made from the shares: a paragraph, and a list of what stands behind it."""
    shown = best_asked(probes)
    known = shown.known
    seeds = known.seed.nunique()
    trainings = "one seed" if seeds == 1 else f"mean over {seeds} seeds"
    first = (
        f"Of the {shown.questions:,} dev questions {shown.facts:,} have their answer in the person's own page. "
        f"Pretrained, **{escape(shown.variant)}** spells {_with_interval(known, 'memorised')} of these places in a "
        f"page form that pretraining practised; finetuned, it answers {_with_interval(known, ASKED)} of the questions "
        f"({trainings})."
    )
    points = [_gap(known, shown.variant)]
    if shown.control in shown.trained_forms:
        points.append(_control(known, shown.control))
    if extremes := _extremes(groups([shown])):
        points.append(extremes)
    if len(probes) > 1:
        gaps = {probe.variant: 100 * (probe.known.memorised.mean() - probe.known[ASKED].mean()) for probe in probes}
        order = sorted(gaps, key=lambda name: (-gaps[name], name))
        points.append(
            f"Memorised minus asked: from {gaps[order[0]]:.1f} points ({escape(order[0])}) to {gaps[order[-1]]:.1f} "
            f"({escape(order[-1])})."
        )
    return Markdown("\n".join([first, "", *(f"- {point}" for point in points)]))


def _gap(known: pd.DataFrame, variant: str) -> str:
    """What of the memorised can be asked, and what finetuning keeps; more and fewer only where a test shows it."""
    inside, outside = known[known.memorised == 1], known[known.memorised == 0]
    if inside.empty:
        return "Nothing was memorised that could be asked."
    others = f", of the others {percent(outside[ASKED].mean())} %" if len(outside) else ""
    samples = [Sample(f"{variant} {name}", marks(known, name)) for name in ("memorised", ASKED)]
    (found,) = compare_pairs([(samples[0], samples[1])])
    if found.significant == YES and found.points > 0:
        start = "Memorising runs ahead of asking"
    elif found.significant == YES:
        start = "More can be asked than is memorised"
    else:
        start = "How much is memorised and how much can be asked are not told apart"
    return (
        f"{start}: of the memorised places {percent(inside[ASKED].mean())} % can be asked{others}; "
        f"in page form finetuning keeps {percent(inside.kept.mean())} % of them."
    )


def _control(known: pd.DataFrame, form: str) -> str:
    own, other = known[f"pretrained_{form}"].mean(), known.pretrained_other_name.mean()
    return (
        f"The form {form} gives {percent(own)} % of the places, and {percent(other)} % when another person's name "
        "stands in it: that is how many the words before the place give away alone."
    )


def _extremes(grouped: pd.DataFrame) -> str:
    """Where the memorised can be asked most and least, of the splits in which the intervals of the two lie apart."""
    parts = []
    for title in SPLITS:
        mine = grouped[(grouped.by == title) & (grouped.facts * grouped.memorised >= ENOUGH)]
        rows = sorted(mine.to_dict("records"), key=lambda row: float(row["asked_of_memorised"]))  # of equals the first
        if len(rows) > 1 and _asked_interval(rows[0])[1] < _asked_interval(rows[-1])[0]:
            worst, best = (f"{percent(row['asked_of_memorised'])} % ({row['group']})" for row in (rows[0], rows[-1]))
            parts.append(f"{title}, from {worst} to {best}")
    return f"Of the memorised places the share that can be asked goes, by {'; by '.join(parts)}." if parts else ""


def _asked_interval(group: Mapping[Hashable, Any]) -> tuple[float, float]:
    """Wilson's interval of the share of a group's memorised facts that can be asked.

    Facts are counted, not facts and seeds: what several seeds know of one fact is not independent.
    """
    trials = round(group["facts"] * group["memorised"])
    return wilson(round(trials * group["asked_of_memorised"]), trials)


def _shares(known: pd.DataFrame) -> dict[str, float]:
    """Shares and means of some rows of knowledge.tsv; `facts` counts questions, the others pool the seeds."""
    measured = [name for name in known.columns if name.startswith(("pretrained_", "finetuned_")) and name not in RANKS]
    return {
        "facts": known.row.nunique(),
        "memorised": float(known.memorised.mean()),
        "asked": float(known[ASKED].mean()),
        "asked_of_memorised": float(known[known.memorised == 1][ASKED].mean()),
        **{name: float(known[name].mean()) for name in measured},
    }


def _with_interval(known: pd.DataFrame, column: str) -> str:
    """A share with its 95 % interval over questions and seeds."""
    outcomes = marks(known, column)
    low, high = accuracy_interval(outcomes, str(known.variant.iloc[0]))
    return f"{percent(float(outcomes.mean()))} % (95 % interval {percent(low)} to {percent(high)} %)"
