"""Where time grows far more slowly than arithmetic: what an operation costs however little it computes."""

from collections.abc import Iterable, Sequence

from stages.reporting.markdown import Markdown, listed
from stages.reporting.sections.measured import Measured, Quantity

FAR_BELOW = 0.25  # of an exponent: what is computed at speed came within 0.23 of its formula, on a CPU
ERRORS = 2  # standard errors of the fit that the distance has to exceed, too
TRAINING, CHARACTER = "training_seconds", "character_seconds"
WHY = "This happens where a fixed overhead of each operation outweighs the arithmetic"


def outweighed(measured: Sequence[Measured], seconds: str) -> list[Measured]:
    """Those whose measured exponent of `seconds` is far below that of their formula at the same lengths.

    A pass that goes from row to row may leave out pairs that the formula counts, but never the products that each
    character takes part in, which grow with the length: more than 1 is not expected of it.
    """
    found = []
    for each in measured:
        exponent, stated = each.exponents.get(seconds), each.stated_exponent(_counted(seconds))
        if exponent is None or stated is None:
            continue
        expected = min(stated, 1.0) if seconds == TRAINING and each.rowwise else stated
        if expected - exponent.slope > max(FAR_BELOW, ERRORS * exponent.error):
            found.append(each)
    return found


def overhead_finding(found: Sequence[Measured], seconds: str) -> Markdown:
    """What is to be said of those that `outweighed` found: their exponents, their arithmetic and its time.

    Empty text where it found none.
    """
    if not found:
        return Markdown("")
    what = _counted(seconds)
    exponents = [each.exponents[seconds] for each in found]
    slopes = _span((each.slope for each in exponents if each), "{:z.2f}")
    stated = _span((each.stated_exponent(what) or 0.0 for each in found), "{:z.2f}")
    ends = [each.lengths[-1] for each in found]
    products = [getattr(each.formula(end), what) / 1e6 for each, end in zip(found, ends, strict=True)]
    took = [1e3 * each.at(end)[seconds] for each, end in zip(found, ends, strict=True)]
    where = f"at {ends[0]:,} characters" if len(set(ends)) == 1 else "at the longest length of each"
    names = listed([each.variant for each in found])
    if seconds == TRAINING:
        return Markdown(
            f"The time of {names} grows far more slowly than its formula: the exponent with backward is {slopes} as "
            f"measured, {stated} by formula. {WHY}: {where} a forward pass has {_span(products, '{:,.0f}')} M "
            f"multiply-adds, and takes {_span(took, '{:,.1f}')} ms with its backward pass."
        )
    return Markdown(
        f"The time of {names} grows far more slowly than its formula: the exponent is {slopes} as measured, {stated} "
        f"by formula. {WHY}: {where} a character has {_span(products, '{:,.1f}')} M multiply-adds and takes "
        f"{_span(took, '{:,.2f}')} ms."
    )


def _counted(seconds: str) -> Quantity:
    """The quantity of a formula that a measured time is set beside."""
    return "multiply_adds" if seconds == TRAINING else "step"


def _span(values: Iterable[float], form: str) -> str:
    """The smallest and the largest value, or the one that both read."""
    ordered = sorted(values)
    low, high = (form.format(value) for value in (ordered[0], ordered[-1]))
    return low if low == high else f"{low} to {high}"
