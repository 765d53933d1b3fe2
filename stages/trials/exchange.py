"""How much practice, or how many phrasings, until a question gets at what is stored: what was registered, tested.

The page has one figure and stands beside that of study `exchange`: reports/trials/exchange/test/.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log2, nan
from pathlib import Path
from statistics import fmean

from matplotlib.figure import Figure
from scipy import stats  # type: ignore[import-untyped]

from stages.reporting.html import write_page
from stages.reporting.markdown import fill, p_value, short, table
from stages.reporting.style import BLUE, GREY, INK, WIDTH, looks, styled, svg
from stages.settings import load
from stages.system.errors import Parser, StudyError, command
from stages.trials.study.plan import Plan
from stages.trials.study.row import Row

STUDY = "exchange"
PAGE = Path("reports/trials/exchange/test")
MATCHED = 0.95  # share of the places' bits that a matched mixer has stored
PHRASINGS = {1: "practice_0", 2: "phrasings_2", 4: "phrasings_4", 8: "phrasings_8"}  # number → change
PRACTICE = {0.0: "practice_0", 0.1: "practice_10", 0.3: "practice_30", 0.9: "practice_90"}  # share → change
NOT_REACHED = 16.0  # phrasings that a mixer counts with which 8 do not bring to HALF
HALF = 0.5  # of the bits in page form


@dataclass(frozen=True)
class MixerRows:
    """The rows of a mixer by change, each in the order of the worlds."""

    name: str
    rows: Mapping[str, Sequence[Row]]
    rate: float
    steps: int

    def mean(self, change: str, field: str) -> float:
        """Return the mean of a field over the worlds."""
        return fmean(getattr(row, field) for row in self.rows[change])

    def answered(self, change: str) -> float:
        """Return the mean share of answered questions."""
        return fmean(row.right / row.questions for row in self.rows[change])

    def ratios(self, change: str) -> list[float]:
        """Return the bits of a question over the bits in page form, by world."""
        return [row.question_bits / row.page_bits for row in self.rows[change]]

    @property
    def is_matched(self) -> bool:
        return self.mean("practice_0", "page_stored") >= MATCHED

    @property
    def phrasings_to_half(self) -> float:
        """Return the number of phrasings at which a question has half the bits of the page form."""
        before: tuple[float, float] | None = None
        for number, change in PHRASINGS.items():
            ratio = fmean(self.ratios(change))
            if ratio >= HALF:
                if before is None:
                    return number
                at, below = before
                return float(2 ** (at + (log2(number) - at) * (HALF - below) / (ratio - below)))
            before = log2(number), ratio
        return NOT_REACHED


@command
def main() -> None:
    """Write the page from the rows of study exchange."""
    Parser(description=main.__doc__).parse_args()
    plan = Plan(STUDY, load())
    mixers = mixers_of(plan)
    if len(mixers) < 3:
        raise StudyError(f"study {STUDY} has too few rows; run: python -m stages.trials {STUDY}")
    write_exchange(plan, mixers)


def mixers_of(plan: Plan) -> list[MixerRows]:
    """Return the mixers that have a row of each change in every world."""
    mixers = []
    for variant in plan.study.variants:
        cells = [cell for cell in plan.cells if cell.variant == variant]
        if all(cell in plan.rows for cell in cells):
            of_change: dict[str, list[Row]] = {}
            for cell in cells:
                of_change.setdefault(cell.change, []).append(plan.rows[cell])
            pretrain = plan.settings(cells[0]).recipe_named(plan.study.recipe).pretrain
            mixers.append(MixerRows(variant, of_change, pretrain.learning_rate, pretrain.least_steps or 0))
    return mixers


@styled()
def write_exchange(plan: Plan, mixers: Sequence[MixerRows]) -> None:
    """Write report.md, index.html and the figure."""
    matched = [mixer for mixer in mixers if mixer.is_matched]
    transfer = [mixer.mean("practice_0", "question_bits") for mixer in mixers]
    answers = [mixer.answered("practice_90") for mixer in mixers]
    friedman = stats.friedmanchisquare(*(mixer.ratios("practice_0") for mixer in matched)) if len(matched) > 2 else None
    inverse = stats.spearmanr(transfer, answers)
    to_half = {mixer.name: mixer.phrasings_to_half for mixer in matched}
    explained = {
        "rate": [mixer.rate for mixer in mixers],
        "steps": [float(mixer.steps) for mixer in mixers],
        "parameters": [mixer.mean("practice_0", "parameters") for mixer in mixers],
        "bits in page form": [mixer.mean("practice_0", "page_bits") for mixer in mixers],
    }
    others = [
        (name, *(f"{stats.spearmanr(values, side).statistic:+.2f}" for side in (transfer, answers)))
        for name, values in explained.items()
    ]
    rows = [row for mixer in mixers for of_change in mixer.rows.values() for row in of_change]
    text = fill(
        Path(__file__).with_name("exchange.md.jinja"),
        mixers=len(mixers),
        of=len(plan.study.variants),
        matched=[mixer.name for mixer in matched],
        friedman=(friedman.statistic, p_value(friedman.pvalue)) if friedman else None,
        inverse=inverse.statistic,
        spread=max(to_half.values()) / min(to_half.values()) if to_half else nan,
        reached=sum(number < NOT_REACHED for number in to_half.values()),
        others=table(("correlation (Spearman) of", "with transfer", "with answers"), others),
        results=results(mixers),
        made=sorted({(short(row.commit), row.device) for row in rows}),
    )
    write_page(PAGE, text, {"figure.svg": svg(draw(mixers))})


def results(mixers: Sequence[MixerRows]) -> str:
    """Return a row a mixer: stored, bits of a question by phrasings, answers by practice, phrasings to half."""
    header = ["mixer", "stored, %", "bits in page form"]
    header += [f"bits of a question, {number} phrasing{'s' if number > 1 else ''}" for number in PHRASINGS]
    header += [f"answered, practice {share:g}, %" for share in PRACTICE] + ["phrasings to half"]
    lines = []
    for mixer in mixers:
        stored = f"{100 * mixer.mean('practice_0', 'page_stored'):.1f}{'' if mixer.is_matched else ' (not matched)'}"
        bits = [f"{mixer.mean(change, 'question_bits'):.1f}" for change in PHRASINGS.values()]
        shares = [f"{100 * mixer.answered(change):.1f}" for change in PRACTICE.values()]
        half = mixer.phrasings_to_half
        reached = f"{half:.1f}" if half < NOT_REACHED else "over 8"
        lines.append([mixer.name, stored, f"{mixer.mean('practice_0', 'page_bits'):.1f}", *bits, *shares, reached])
    return table(header, lines)


def draw(mixers: Sequence[MixerRows]) -> Figure:
    """Draw answers with practice against transfer without, and transfer against the number of phrasings."""
    figure = Figure(figsize=(WIDTH, 3.9), layout="constrained")
    left, right = figure.subplots(1, 2)
    look = looks([mixer.name for mixer in mixers], [mixer.name for mixer in mixers][:7])
    for mixer in mixers:
        x, y = mixer.mean("practice_0", "question_bits"), 100 * mixer.answered("practice_90")
        left.scatter(x, y, s=26, color=BLUE if mixer.is_matched else GREY)
        left.annotate(mixer.name, (x, y), (4, 3), textcoords="offset points", fontsize=7, color=INK)
        dash, colour = look[mixer.name]
        ratios = [100 * fmean(mixer.ratios(change)) for change in PHRASINGS.values()]
        right.plot([*PHRASINGS], ratios, dash, color=colour, linewidth=1.4, label=mixer.name)
    left.set_xlabel("bits of a question, without practice")
    left.set_ylabel("answered after practice (%)")
    right.axhline(100 * HALF, color=GREY, linestyle=":", linewidth=1)
    right.set_xscale("log", base=2)
    right.set_xticks([*PHRASINGS], map(str, PHRASINGS))
    right.set_xlabel("phrasings of each fact, without practice")
    right.set_ylabel("a question's bits, of those in page form (%)")
    right.legend(fontsize=7, ncols=2)
    for axes in (left, right):
        axes.grid(zorder=0)
    return figure


if __name__ == "__main__":
    main()
