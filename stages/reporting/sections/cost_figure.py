"""The picture of what the variants cost."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from stages.reporting.sections.measured import Measured
from stages.reporting.style import WIDTH, legend_columns, logarithmic, looks, styled, svg

PANELS = (
    ("training_seconds", "Forward and backward", "milliseconds", 1e3),
    ("training_bytes", "Its peak memory", "MB", 1e-6),
    ("character_seconds", "One more character", "milliseconds", 1e3),
)  # what, title, unit, factor


def cost_svg(measured: Sequence[Measured], variants: Sequence[str]) -> str:
    """Draw time and memory against length on logarithmic axes; `variants` are those of the whole report.

    The legend gives each line's exponents, panel by panel.
    """
    with styled():
        return svg(draw_costs(measured, variants))


def draw_costs(measured: Sequence[Measured], variants: Sequence[str]) -> Figure:
    """Return the figure of `cost_svg`."""
    styles = looks(variants)
    labels = {each.variant: f"{each.variant}: {_slopes(each)}" for each in measured}
    columns = legend_columns(labels.values())
    figure = Figure(figsize=(WIDTH, 2.9 + 0.2 * -(-len(labels) // columns)), layout="constrained")
    for axes, (what, title, unit, factor) in zip(figure.subplots(1, len(PANELS)), PANELS, strict=True):
        for each in measured:
            dash, colour = styles[each.variant]
            shown = each.table[each.table[what] > 0]  # memory too small to be seen has no logarithm
            axes.plot(shown["length"], factor * shown[what], color=colour, linestyle=dash, marker=".", linewidth=1.4)
        axes.set_title(f"{title} ({unit})")
        axes.set_xlabel("length (characters)")
        _scale(axes, sorted({length for each in measured for length in each.lengths}))
    handles = [
        Line2D([], [], color=styles[name][1], linestyle=styles[name][0], linewidth=1.4, marker=".", label=label)
        for name, label in labels.items()
    ]
    title = "exponents over the longer half: time, memory, time of a character"
    figure.legend(
        handles=handles, title=title, title_fontsize=8.5, loc="outside lower center", ncols=columns, fontsize=8.5
    )
    return figure


def _slopes(measured: Measured) -> str:
    exponents = [measured.exponents.get(what) for what, *_ in PANELS]
    return ", ".join(f"{each.slope:.2f}" if each else "–" for each in exponents)


def _scale(axes: Axes, lengths: Sequence[int]) -> None:
    """Logarithmic axes, the upright one at least a decade high: a flat line shall look flat."""
    low, high = axes.dataLim.y0, axes.dataLim.y1
    high = max(high, 10 * low)
    logarithmic(axes, low, high)
    axes.set_ylim(low / 1.3, 1.3 * high)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator(lengths[:: 1 + len(lengths) // 5]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.grid(zorder=0)
