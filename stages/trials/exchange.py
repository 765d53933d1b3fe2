"""How much practice, or how many phrasings, until a question gets at what is stored: what was registered, tested.

The page has one figure and stands beside that of study `exchange`: reports/trials/exchange/test/.
"""

from collections.abc import Sequence
from math import log2
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure
from scipy import stats  # type: ignore[import-untyped]

from stages.reporting.html import write_page
from stages.reporting.markdown import Markdown, fill, short, table
from stages.reporting.style import BLUE, GREY, INK, SMALL, looks, styled, svg
from stages.settings.params import load
from stages.system.errors import Parser, command
from stages.trials.study.plan import Plan

STUDY = "exchange"
TEMPLATE = Path(__file__).with_name("exchange.md.jinja")
PAGE = Path("reports/trials/exchange/test")
MATCHED = 0.95  # share of the places' bits that a matched mixer has stored
PLAIN = "practice_0"  # the change without practice, with one phrasing
PHRASINGS = {1: PLAIN, 2: "phrasings_2", 4: "phrasings_4", 8: "phrasings_8"}  # number → change
PRACTICE = {0.0: PLAIN, 0.1: "practice_10", 0.3: "practice_30", 0.9: "practice_90"}  # share → change
MOST_PRACTICE = PRACTICE[0.9]
NOT_REACHED = 16.0  # phrasings: stands for a mixer that 8 do not bring to HALF
HALF = 0.5  # of the bits in page form


@command
def main() -> None:
    """Write the page from the rows of study exchange."""
    Parser(description=main.__doc__).parse_args()
    write_exchange(Plan(STUDY, load()))


@styled()
def write_exchange(plan: Plan) -> None:
    """Write report.md, index.html and the figure."""
    rows = pd.DataFrame([row.model_dump() for row in plan.rows.values()])
    rows = rows.assign(answered=rows.right / rows.questions, ratio=rows.question_bits / rows.page_bits)
    figures = ["page_stored", "page_bits", "question_bits", "ratio", "answered", "parameters"]
    means = rows.pivot_table(figures, "variant", "change", sort=False)  # over the worlds, by figure and change
    matched = means.index[means.page_stored[PLAIN] >= MATCHED]
    of_matched = rows[(rows.change == PLAIN) & rows.variant.isin(matched)]
    ratios = of_matched.pivot(index="world", columns="variant", values="ratio")
    transfer, answers = means.question_bits[PLAIN], means.answered[MOST_PRACTICE]
    to_half = means.ratio[[*PHRASINGS.values()]].apply(phrasings_to_half, axis=1)
    reached = to_half[matched]
    chosen = {(choice.key, cell.variant): value for choice, cell, value, _ in plan.choices()}
    explained = {
        "rate": [chosen["pretrain.learning_rate", name] for name in means.index],
        "steps": [chosen["pretrain.least_steps", name] for name in means.index],
        "parameters": means.parameters[PLAIN],
        "bits in page form": means.page_bits[PLAIN],
    }
    others = [
        (name, *(f"{stats.spearmanr(values, side).statistic:+.2f}" for side in (transfer, answers)))
        for name, values in explained.items()
    ]
    text = fill(
        TEMPLATE,
        mixers=len(means),
        matched=[*matched],
        friedman=stats.friedmanchisquare(*ratios.to_numpy().T),
        inverse=stats.spearmanr(transfer, answers).statistic,
        spread=reached.max() / reached.min(),
        reached=(reached < NOT_REACHED).sum(),
        others=table(("correlation (Spearman) of", "with transfer", "with answers"), others),
        results=mixers_table(means, to_half),
        made=sorted({(short(commit), device) for commit, device in zip(rows.commit, rows.device, strict=True)}),
    )
    write_page(PAGE, text, {"figure.svg": svg(draw(means))})


def phrasings_to_half(ratios: Sequence[float]) -> float:
    """Return the number of phrasings at which a question has half the bits of the page form; ratios: of PHRASINGS."""
    before: tuple[float, float] | None = None
    for number, ratio in zip(PHRASINGS, ratios, strict=True):
        if ratio >= HALF:
            if before is None:
                return number
            at, below = before
            return float(2 ** (at + (log2(number) - at) * (HALF - below) / (ratio - below)))
        before = log2(number), ratio
    return NOT_REACHED


def mixers_table(means: pd.DataFrame, to_half: pd.Series) -> Markdown:
    """Return a row a mixer: stored, bits of a question by phrasings, answers by practice, phrasings to half."""
    header = ["mixer", "stored, %", "with 8 phrasings", "with practice 0.9", "bits in page form"]
    header += [f"bits of a question, {number} phrasing{'s' if number > 1 else ''}" for number in PHRASINGS]
    header += [f"answered, practice {share:g}, %" for share in PRACTICE] + ["phrasings to half"]
    lines = []
    for name, mixer in means.iterrows():
        is_matched = mixer.page_stored[PLAIN] >= MATCHED
        stored = f"{100 * mixer.page_stored[PLAIN]:.1f}{'' if is_matched else ' (not matched)'}"
        bits = [f"{mixer.question_bits[change]:.1f}" for change in PHRASINGS.values()]
        shares = [f"{100 * mixer.answered[change]:.1f}" for change in PRACTICE.values()]
        half = f"{to_half[str(name)]:.1f}" if to_half[str(name)] < NOT_REACHED else "over 8"
        others = [f"{100 * mixer.page_stored[change]:.1f}" for change in (PHRASINGS[8], MOST_PRACTICE)]
        lines.append([str(name), stored, *others, f"{mixer.page_bits[PLAIN]:.1f}", *bits, *shares, half])
    return table(header, lines)


def draw(means: pd.DataFrame) -> Figure:
    """Draw answers with practice against transfer without, and transfer against the number of phrasings."""
    figure = Figure(figsize=(SMALL, 7.4), layout="constrained")
    above, below = figure.subplots(2, 1)
    look = looks([*means.index], [*means.index][:7])
    for name, mixer in means.iterrows():
        x, y = mixer.question_bits[PLAIN], 100 * mixer.answered[MOST_PRACTICE]
        above.scatter(x, y, s=26, color=BLUE if mixer.page_stored[PLAIN] >= MATCHED else GREY)
        above.annotate(str(name), (x, y), (4, 3), textcoords="offset points", fontsize=7, color=INK)
        dash, colour = look[str(name)]
        ratios = 100 * mixer.ratio[[*PHRASINGS.values()]]
        below.plot([*PHRASINGS], ratios, dash, color=colour, linewidth=1.4, label=str(name))
    above.set_xlabel("bits of a question, without practice")
    above.set_ylabel("answered after practice (%)")
    below.axhline(100 * HALF, color=GREY, linestyle=":", linewidth=1)
    below.set_xscale("log", base=2)
    below.set_xticks([*PHRASINGS], map(str, PHRASINGS))
    below.set_xlabel("phrasings of each fact, without practice")
    below.set_ylabel("a question's bits, of those in page form (%)")
    figure.legend(*below.get_legend_handles_labels(), loc="outside lower center", fontsize=7, ncols=4)
    for axes in (above, below):
        axes.grid(zorder=0)
    return figure


if __name__ == "__main__":
    main()
