"""The picture of what pretraining changed: questions gained and lost, and the seeds' agreement."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator

from stages.reporting.style import INK, WIDTH, styled, svg

GAINED, LOST = "#0072B2", "#D55E00"
SHARED = {"all seeds right": "#009E73", "some": "#A8DCCB", "none": "#E4E4E4"}


def pretraining_svg(changed: Mapping[str, tuple[int, int]], agreed: Mapping[str, Sequence[int]]) -> str:
    """Draw the numbers of questions gained and lost by variant, best first, and the seeds' agreement beside them.

    agreed: how many questions all, some and no seeds answered right, by variant; empty where there is one seed.
    """
    with styled():
        return svg(draw_pretraining(changed, agreed))


def draw_pretraining(changed: Mapping[str, tuple[int, int]], agreed: Mapping[str, Sequence[int]]) -> Figure:
    """Return the figure of `pretraining_svg`."""
    figure = Figure(figsize=(WIDTH, 1.25 + 0.3 * len(changed)), layout="constrained")
    panels = figure.subplots(1, 2 if agreed else 1, squeeze=False)[0]
    _changes(panels[0], changed)
    handles = [Patch(facecolor=GAINED, label="gained"), Patch(facecolor=LOST, label="lost")]
    if agreed:
        _agreement(panels[1], agreed)
        handles += [Patch(facecolor=colour, label=label) for label, colour in SHARED.items()]
    for axes in panels:
        axes.set_ylim(len(changed) - 0.45, -0.55)  # best on top
        axes.tick_params(axis="y", length=0)
        axes.set_xlabel("dev questions")
        axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
        axes.grid(axis="x", zorder=0)
        axes.set_axisbelow(True)
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), fontsize=8.5)
    return figure


def _changes(axes: Axes, changed: Mapping[str, tuple[int, int]]) -> None:
    for place, (gained, lost) in enumerate(changed.values()):
        for count, sign, colour in ((gained, 1, GAINED), (lost, -1, LOST)):
            axes.barh(place, sign * count, height=0.62, color=colour, zorder=2)
            axes.annotate(
                f"{count:,}",
                (sign * count, place),
                xytext=(3 * sign, 0),
                textcoords="offset points",
                ha="left" if sign > 0 else "right",
                va="center",
                fontsize=8,
                color=INK,
            )
    axes.axvline(0, color=INK, linewidth=0.8, zorder=3)
    furthest = [max(column) for column in zip(*changed.values(), strict=True)]
    room = 0.2 * max(1, sum(furthest))  # for the figures at both ends
    axes.set_xlim(-furthest[1] - room, furthest[0] + room)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{abs(value):,.0f}"))
    axes.set_yticks(range(len(changed)), list(changed))
    axes.set_title("Gained and lost by pretraining")


def _agreement(axes: Axes, agreed: Mapping[str, Sequence[int]]) -> None:
    questions = sum(next(iter(agreed.values())))
    for place, counts in enumerate(agreed.values()):
        start = 0
        for count, (label, colour) in zip(counts, SHARED.items(), strict=True):
            axes.barh(place, count, left=start, height=0.62, color=colour, zorder=2)
            if count >= 0.06 * questions:  # a figure in a narrower piece would stick out
                white = label == "all seeds right"
                middle = start + count / 2
                axes.text(
                    middle, place, f"{count:,}", ha="center", va="center", fontsize=8, color="white" if white else INK
                )
            start += count
    axes.set_xlim(0, questions)
    axes.set_yticks(range(len(agreed)), [""] * len(agreed))
    axes.set_title("Right after pretraining")
