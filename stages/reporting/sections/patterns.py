"""Which inputs an output knows, in words: a matrix of influence is named only if it is the named pattern to the bit."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from stages.reporting.sections.pictures import Picture, Seen

Kind = Literal["all", "window", "first and own", "first", "other", "ahead"]


@dataclass(frozen=True)
class Pattern:
    """A matrix of influence, described.

    ::

        all            output t knows the inputs s ≤ t
        window         those with t - size < s ≤ t
        first and own  s ≤ t where t < size, else s < size and s = t
        first          s ≤ t where t < size, else s < size
        other          some s ≤ t
        ahead          some s > t: no language model
    """

    kind: Kind
    size: int
    start: int | None  # the output from which on the pattern, not its own position, limits what it knows; None: nowhere
    pairs: int  # how many pairs s ≤ t have no influence, or, ahead, how many s > t have some


def pattern_of(seen: Seen) -> Pattern:
    """Describe the influence of inputs (columns) on outputs (rows). seen: (T, T)."""
    T = len(seen)
    t, s = np.mgrid[:T, :T]
    causal = s <= t
    if (seen & ~causal).any():
        return Pattern("ahead", T, None, int((seen & ~causal).sum()))
    missing = causal & ~seen
    pairs = int(missing.sum())
    if not pairs:
        return Pattern("all", T, None, 0)
    if not seen.any():
        return Pattern("other", T, 0, pairs)
    width = int((t - s)[seen].max()) + 1
    if np.array_equal(seen, causal & (t - s < width)):
        return Pattern("window", width, width, pairs)
    first = int(seen[-1].argmin())  # the first input that the last output does not know
    within = causal & (s < first)
    if np.array_equal(seen, within | (s == t)):
        return Pattern("first and own", first, first, pairs)
    if np.array_equal(seen, within):
        return Pattern("first", first, first, pairs)
    return Pattern("other", T, int(missing.any(axis=1).argmax()), pairs)


def said_of(pattern: Pattern, T: int) -> str:
    """What the pattern of T outputs means, in a sentence without its subject's name."""
    size = pattern.size
    if pattern.kind == "ahead":
        return f"looks ahead: {pattern.pairs:,} pairs have influence in which the input stands after the output."
    if pattern.kind == "all":
        return "each output knows every input up to its own."
    if pattern.kind == "window":
        here = "its own input" if size == 1 else f"the last {size} inputs, its own included"
        return f"an output knows {here}; nothing further back has any influence."
    if pattern.kind == "other":
        return (
            f"{pattern.pairs:,} of {T * (T + 1) // 2:,} pairs have no influence, the first at output {pattern.start}."
        )
    before = f"output t < {size} knows the inputs up to its own, t ≥ {size} the first {size}"
    if pattern.kind == "first":
        return f"{before} only, not even its own."
    lost = T - 1 - size
    end = f": x_{size} … x_(t−1) are lost, for the last output {lost} of its {T} inputs"
    return f"{before} and its own only{end if lost > 0 else ''}."


def through_weights(picture: Picture) -> str:
    """Which influence goes through the attention weights alone, in a sentence; empty where none does."""
    alone = picture.seen & ~picture.held
    outputs = np.flatnonzero(alone.diagonal())
    if not alone.any():
        return ""
    if alone.sum() > len(outputs):
        return f"{int(alone.sum()):,} pairs have influence through the attention weights alone."
    which = (
        f"from output {outputs[0]} on" if len(outputs) == len(alone) - outputs[0] else f"at {len(outputs):,} outputs"
    )
    return f"{which} an output's own input has influence through the attention weights alone: it chooses what is read."
