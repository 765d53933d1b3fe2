"""The report's section on attention by hand."""

from math import sqrt
from pathlib import Path
from typing import Any

from jinja2 import UndefinedError

from stages.reporting.evaluations import broken, read_record
from stages.reporting.markdown import Markdown
from stages.reporting.template import Part, fill, power

TEMPLATE = "exploration.md.jinja"
PICTURES = ("errors.svg", "heads.svg", "rotation.svg")

SMALL = 0.01  # an error up to which ≈ is written; the line in the first picture
EXACT = 1e-9  # up to here a computation and its formula differ by rounding only
ALONE = 0.95 * sqrt(2)  # of ‖u‖: u_a and u_b are √2 ‖u‖ apart; an input from here on is not mixed with others
WIDE = 0.25  # standard deviation of a share; one that is 0 or 1 by chance has 0.5
NARROW = 0.05


def exploration_part(folder: Path) -> Part | None:
    """The section made from what stage `explore` left in `folder`; None where that is not there.

    Raises StudyError where it is broken.
    """
    if not folder.is_dir():
        return None
    path = folder / "exploration.json"
    record = read_record(path)
    try:
        text = fill(TEMPLATE, **record | sentences(record))
        files = {f"exploration_{name}": (folder / name).read_text(encoding="utf-8") for name in PICTURES}
    except (UndefinedError, KeyError, TypeError, FileNotFoundError) as error:
        raise broken(path, error) from None
    return Part(text, files)


def sentences(record: dict[str, Any]) -> dict[str, Markdown]:
    """Return what exploration.json shows, by the place in the template; other figures give other sentences."""
    beta, heads = f"{record['largest_beta']:g}", record["heads"]
    off = max(record[name]["off_formula"] for name in ("copying", "averaging", "construction"))
    said = {
        "agreement": "both agree" if off <= EXACT else f"they are apart by up to {power(off)}",
        "copying": _copying(record["copying"], record["pairs"], beta),
        "averaging": _averaging(record["averaging"]["smallest_error"], beta),
        "identity": _identity(record["construction"]["identity_distance"]),
        "construction": _construction(record["construction"], beta),
        # the length's standard deviation is √(½ + α), that of all other directions together √(α (d − 1))
        "direction": (
            ": its direction is sure, its length is not" if record["alpha"] * record["dimension"] <= SMALL else ""
        ),
        "one_head": _one_head(heads["one"], beta),
        "two_heads": _two_heads(heads["one"], heads["two"]),
    }
    return {place: Markdown(sentence) for place, sentence in said.items()}


def _copying(found: dict[str, float], pairs: int, beta: str) -> str:
    start = (
        f"q = β k_a gives v_a the weight e^β/(e^β + {pairs - 1}): more than {found['wanted_share']} from "
        f"β = {found['needed_beta']:.2f} on"
    )
    share = found["largest_share"]
    if share >= found["wanted_share"]:
        return f"{start}, and all but {power(1 - share)} at β = {beta}."
    return f"{start}; at β = {beta}, the largest here, it is {share:.2f}."


def _averaging(error: float, beta: str) -> str:
    if error <= SMALL:
        return f"q = β(k_a + k_b) gives c ≈ ½(v_a + v_b); the error falls with e^β, to {power(error)} at β = {beta}."
    return (
        f"q = β(k_a + k_b) brings c to ½(v_a + v_b) if β is large; up to β = {beta} the error is no smaller than "
        f"{error:.2f}: the other values weigh in."
    )


def _identity(distance: float) -> str:
    near = f"nearer to u_b than {distance:.2f} ‖u‖"
    if distance >= ALONE:
        return (
            "With V = K = Q = I and long u each input keeps to itself: c₂ is x₂ also when any multiple of u_c or u_d "
            f"is added to it, and never {near}."
        )
    return (
        "With V = K = Q = I the inputs mix, as the u are short here; but also with any multiple of u_c or u_d added to "
        f"x₂, c₂ does not come {near}."
    )


def _construction(found: dict[str, float], beta: str) -> str:
    first, second = found["first_error"], found["second_error"]
    if max(first, second) <= SMALL:
        return f"c₁ ≈ u_b − u_c and c₂ ≈ u_b, off by {power(first)} and {power(second)} ‖u‖ at ‖u‖² = {beta}."
    return (
        f"the longer the u, the nearer comes c₁ to u_b − u_c and c₂ to u_b. At ‖u‖² = {beta} they are still off by "
        f"{first:.2f} and {second:.2f} ‖u‖."
    )


def _one_head(found: dict[str, float], beta: str) -> str:
    spread = f"the share of v_a has a standard deviation of {_around(found, 'a')}"
    start = f"One head with q = β(μ_a + μ_b), β = {beta},"
    both = found["mean_a"] + found["mean_b"]
    if both < 1 - 2 * NARROW:
        return f"{start} gives v_a and v_b together {100 * both:.0f} % of the weight on average: {spread}."
    if found["std_a"] >= WIDE:
        return f"{start} swings between v_a and v_b: {spread}."
    return f"{start} mixes v_a and v_b: {spread}."


def _two_heads(one: dict[str, float], two: dict[str, float]) -> str:
    start = (
        f"Two heads with q₁ = β μ_a and q₂ = β μ_b, averaged, come to {_around(two, 'a')}, and the share of v_b to "
        f"{_around(two, 'b')}"
    )
    halves = min(two["mean_a"], two["mean_b"]) >= 0.5 - 2 * NARROW
    if halves and two["std_b"] <= NARROW and two["std_a"] <= WIDE:
        return f"{start}: only where k_a is drawn near zero or turned around does the first head miss v_a."
    if halves and max(two["std_a"], two["std_b"]) < min(one["std_a"], one["std_b"]):
        return f"{start}: steadier than one head."
    return f"{start}{'' if halves else ': the two values do not make up all of c'}."


def _around(found: dict[str, float], value: str) -> str:
    return f"{found[f'std_{value}']:.2f} around {found[f'mean_{value}']:.2f}"
