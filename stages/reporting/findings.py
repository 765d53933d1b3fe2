"""The result in sentences, made from the figures so that they cannot say anything else."""

from typing import Any

from stages.reporting.markdown import Markdown, escape, listed
from stages.reporting.metrics import best_variant, ranking


def findings(metrics: dict[str, Any], questions: int, place: str) -> Markdown:
    """Return two or three sentences on `metrics` (metrics.json), measured on `questions` dev questions.

    `place` is the baseline's constant answer. They tell what pretraining changed for the selected variant,
    how that compares with the baseline, and for several variants whose intervals reach either of the two.
    """
    variants = metrics["variants"]
    name = best_variant(variants)
    sentences = [
        _pretraining(name, metrics["selected"], questions, len(variants)),
        _london(metrics["selected"], metrics["london"]["dev_accuracy"], place),
    ]
    if len(variants) > 1:
        sentences.append(_others(variants, metrics["london"]["dev_accuracy"], place))
    return Markdown(" ".join(sentences))


def _pretraining(name: str, figures: dict[str, Any], questions: int, variants: int) -> str:
    scratch, pretrained = figures["scratch_dev_accuracy"], figures["dev_accuracy"]
    who = f"**{escape(name)}**" if variants == 1 else f"**{escape(name)}**, the best of {variants} variants,"
    seeds = "one seed" if figures["seeds"] == 1 else f"mean over {figures['seeds']} seeds"
    low, high = figures["dev_accuracy_low"], figures["dev_accuracy_high"]
    interval = f"95 % interval {low:.1f} to {high:.1f} %, {seeds}"
    after = f"{pretrained:.1f} % of the {questions:,} dev questions ({interval})"
    if pretrained > scratch:
        reserve = "" if low > scratch else ", a gain that lies within the interval"
        return f"With pretraining {who} answers {after}; without it {scratch:.1f} %{reserve}."
    change = "it answers just as many without it" if pretrained == scratch else f"without it {scratch:.1f} %"
    return f"Pretraining did not help: after it {who} answers {after}; {change}."


def _london(figures: dict[str, Any], london: float, place: str) -> str:
    lift = figures["lift_over_london"]
    always = f"answering {escape(place)} every time ({london:.1f} %)"
    if lift == 0:
        return f"That is exactly as good as {always}."
    if lift < 0:
        return f"That is {-lift:.1f} points below {always}: no knowledge is shown."
    if figures["dev_accuracy_low"] <= london:
        return f"That is {lift:.1f} points above {always}, but the interval reaches down to it."
    return f"That is {lift:.1f} points above {always}."


def _others(variants: dict[str, dict[str, Any]], london: float, place: str) -> str:
    order = ranking(variants)
    idle = [n for n in order if variants[n]["dev_accuracy_low"] <= variants[n]["scratch_dev_accuracy"]]
    low = [n for n in order if variants[n]["dev_accuracy_low"] <= london]
    last = f"the last is {escape(order[-1])} with {variants[order[-1]]['dev_accuracy']:.1f} %"
    always = f"always answering {escape(place)}"
    if not idle and not low:
        return f"The interval of every variant lies above its accuracy from scratch and above {always}; {last}."
    what = {always: low, "the accuracy from scratch": idle}
    reached = [f"{name} for {listed(names)}" for name, names in what.items() if names]
    return f"The interval reaches down to {', and to '.join(reached)}; {last}."
