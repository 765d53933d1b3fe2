"""The README's first figure: the heights of its bars and lines are the figures of the reports."""

from stages.article.overview import draw_overview
from stages.article.sections import in_all


def metrics(accuracies: dict[str, float]) -> dict[str, object]:
    return {
        "baseline": {"dev_accuracy": 5.0},
        "reader": {"dev_accuracy": 92.0},
        "variants": {
            name: {
                "dev_accuracy": accuracy,
                "dev_accuracy_ci_low": accuracy - 2,
                "dev_accuracy_ci_high": accuracy + 3,
                "scratch_dev_accuracy": 1.5,
            }
            for name, accuracy in accuracies.items()
        },
    }


def test_a_panel_has_the_bars_and_lines_of_its_report() -> None:
    reports = {
        "one: a": metrics({"rope": 88.4, "rnn": 20.0, "vanilla": 60.0}),
        "two: b": metrics({"rope": 10.0, "vanilla": 7.0}),
    }
    panels = draw_overview(reports, in_all(reports.values(), ["vanilla", "mqa", "rnn", "rope"])).axes
    heights = [[bar.get_height() for bar in panel.patches] for panel in panels]
    assert heights == [[60.0, 1.5, 88.4, 1.5], [7.0, 1.5, 10.0, 1.5]]
    for panel in panels:
        assert [line.get_ydata()[0] for line in panel.lines[-2:]] == [5.0, 92.0]
        assert [label.get_text() for label in panel.get_xticklabels()] == ["vanilla", "rope"]
    assert [text.get_text() for text in panels[0].texts] == ["60.0", "88.4"]
