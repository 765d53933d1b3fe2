"""The result in sentences, made from the figures so that they cannot say anything else."""

from collections.abc import Mapping, Sequence
from typing import Any

from stages.reporting.markdown import Markdown, escape, listed
from stages.reporting.metrics import best_variant, ranking
from stages.reporting.statistics.significance import CLEAR, Difference, told_apart

NAMED = 3  # variants that a sentence names at most


def findings(
    metrics: dict[str, Any],
    questions: int,
    place: str,
    gains: Mapping[str, Difference],
    leads: Mapping[str, Difference],
    level: Sequence[str] = (),
) -> Markdown:
    """Return two sentences on `metrics` (metrics.json), three of several variants.

    `questions` is the number of dev questions asked, `place` the baseline's constant answer; `gains` are the variants'
    differences to their trainings from scratch, `leads` those to the constant answer, `level` the variants that are not
    told apart from the one with the highest accuracy. Best, more, fewer, above and below are said where these tests
    show it, never because of two means.
    """
    variants = metrics["variants"]
    name = best_variant(variants)
    sentences = [
        _pretraining(_place(name, len(variants), level), metrics["selected"], questions, gains[name]),
        _london(metrics["selected"], metrics["london"]["dev_accuracy"], place, leads[name]),
    ]
    if len(variants) > 1:
        order = ranking(variants)
        others = _others({each: gains[each] for each in order}, {each: leads[each] for each in order}, place)
        sentences.append(f"{others}; the last is {escape(order[-1])} with {variants[order[-1]]['dev_accuracy']:.1f} %.")
    return Markdown(" ".join(sentences))


def _place(name: str, variants: int, level: Sequence[str]) -> str:
    """The name of the variant with the highest accuracy, and what that is worth."""
    if variants == 1:
        return f"**{escape(name)}**"
    if not level:
        return f"**{escape(name)}**, the best of {variants} variants,"
    others = listed(level) if len(level) <= NAMED else f"{len(level)} others"
    return f"**{escape(name)}**, the highest of {variants} variants but not told apart from {others},"


def _pretraining(who: str, figures: dict[str, Any], questions: int, gain: Difference) -> str:
    seeds = "one seed" if figures["seeds"] == 1 else f"mean over {figures['seeds']} seeds"
    low, high = figures["dev_accuracy_low"], figures["dev_accuracy_high"]
    interval = f"95 % interval {low:.1f} to {high:.1f} %, {seeds}"
    after = f"{figures['dev_accuracy']:.1f} % of the {questions:,} dev questions ({interval})"
    before = f"without it {figures['scratch_dev_accuracy']:.1f} %"
    if gain.verdict != CLEAR:
        before += ": no change is shown"
    elif gain.points < 0:
        before += ": it takes right answers away"
    return f"With pretraining {who} answers {after}; {before}."


def _london(figures: dict[str, Any], london: float, place: str, lead: Difference) -> str:
    always = f"answering {escape(place)} every time ({london:.1f} %)"
    if lead.verdict != CLEAR:
        return f"Pretrained, it is not told apart from {always}."
    points = f"{abs(figures['lift_over_london']):.1f} points"
    if lead.points < 0:
        return f"Pretrained, it is {points} below {always}: no knowledge is shown."
    return f"Pretrained, it is {points} above {always}."


def _others(gains: Mapping[str, Difference], leads: Mapping[str, Difference], place: str) -> str:
    """The start of a sentence on all variants: what pretraining and the constant answer are to them."""
    gained, led = told_apart(gains), told_apart(leads)
    always = f"answering {escape(place)} every time"
    all_gain, all_lead = len(gained.better) == len(gains), len(led.better) == len(leads)
    if all_gain and all_lead:
        return f"Every variant gains by pretraining and does better than {always}"
    said = ["every variant gains by pretraining"] if all_gain else []
    said += [
        f"{what} {listed(names)}"
        for what, names in (
            ("pretraining takes right answers away for", gained.worse),
            ("pretraining shows no change for", gained.alike),
            (f"worse than {always}:", led.worse),
            (f"not told apart from {always}:", led.alike),
        )
        if names
    ]
    if all_lead:
        said.append(f"every variant does better than {always}")
    joined = "; ".join(said)
    return f"{joined[0].upper()}{joined[1:]}"
