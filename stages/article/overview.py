"""The README's first figure: the accuracies of the committed reports, side by side: reports/overview.svg."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from stages.article.sections import HANDOUT, OPEN, QUICK, REPORTS, UNAIDED, in_all, metrics
from stages.reporting.style import GREY, INK, PRETRAINED, SCRATCH, SMALL, styled, svg
from stages.settings.params import load
from stages.system.errors import Parser, command
from stages.system.files import write_text

SHOWN = {  # by the folder of a report: what its panel is called
    QUICK: "quick: a generated world",
    HANDOUT: "handout: real data, text masked",
    UNAIDED: "unaided: any capitalised phrase",
    OPEN: "open: the reader chooses",
}


@command
@styled()  # when it is saved, too
def main() -> None:
    """Draw the accuracies of the compared variants that all of the committed reports have."""
    Parser(description=main.__doc__).parse_args()
    reports = {title: metrics(name) for name, title in SHOWN.items()}
    write_text(REPORTS / "overview.svg", svg(draw_overview(reports, in_all(reports.values(), load().model.compared))))


def draw_overview(reports: Mapping[str, Mapping[str, Any]], variants: Sequence[str]) -> Figure:
    """Draw a panel for each metrics.json of `reports`, by its title; a bar for each of the variants."""
    figure = Figure(figsize=(SMALL, 4.8), layout="constrained")
    panels = figure.subplots(len(reports) // 2, 2, sharex=True, sharey=True).ravel()
    for axes, (title, report) in zip(panels, reports.items(), strict=True):
        for at, name in enumerate(variants):
            figures = report["variants"][name]
            accuracy = figures["dev_accuracy"]
            axes.bar(at, accuracy, width=0.7, color=PRETRAINED, label="" if at else "pretrained, then finetuned")
            axes.bar(at, figures["scratch_dev_accuracy"], width=0.3, color=SCRATCH, label="" if at else "from scratch")
            spread = [[accuracy - figures["dev_accuracy_ci_low"]], [figures["dev_accuracy_ci_high"] - accuracy]]
            axes.errorbar(at, accuracy, yerr=spread, ecolor=INK, elinewidth=1, capsize=2.5)
            axes.annotate(f"{accuracy:.1f}", (at, 104), ha="center", va="center", fontsize=8.5)
        lines = {"always London": ("baseline", "--"), "the reader, which sees the page": ("reader", "-.")}
        for label, (key, dash) in lines.items():
            axes.axhline(report[key]["dev_accuracy"], color=GREY, linestyle=dash, linewidth=1.1, zorder=0, label=label)
        axes.set_title(title)
        axes.set_xticks(range(len(variants)), variants, rotation=30, ha="right")
        axes.set_ylim(0, 108)
        axes.set_yticks(range(0, 101, 20))
    figure.supylabel("dev questions answered (%)", fontsize=9)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


if __name__ == "__main__":
    main()
