"""The report's section on where answers come from."""

from collections.abc import Sequence

from stages.reporting.evaluations import Evaluation
from stages.reporting.markdown import Markdown, table
from stages.reporting.statistics.intervals import share
from stages.reporting.tables import percent
from stages.reporting.template import Part, fill

COLUMNS = {
    "correct": "correct",
    "own_page": "own page",
    "training_answer": "training answer",
    "corpus": "other page",
    "empty": "empty",
}  # origin: heading
ROWS = {
    "dev, from scratch": ("dev", "scratch"),
    "dev, pretrained": ("dev", "pretrained"),
    "unseen entities": ("unseen", "pretrained"),
}  # label: what was asked, of which weights


def failures_part(probes: Sequence[Evaluation]) -> Part:
    """Return the section, which holds shares only, no question, name or place."""
    unseen = probes[0].origins[probes[0].origins.asked == "unseen"].row.nunique()
    return Part(fill(__file__, "failures.md.jinja", unseen=unseen, origins_table=origins_table(probes)))


def origins_table(probes: Sequence[Evaluation]) -> Markdown:
    """Return a row for each variant and kind of question: shares of the origins in percent."""
    header = ("variant", "asked", *COLUMNS.values(), "hallucination (95 % interval)")
    rows = []
    for probe in probes:
        for label, (asked, init) in ROWS.items():
            answers = probe.origins[(probe.origins.asked == asked) & (probe.origins.init == init)]
            if len(answers):
                undefined = () if asked == "dev" else ("correct", "own_page")
                cells = ["–" if name in undefined else percent((answers.origin == name).mean()) for name in COLUMNS]
                marked = answers.assign(hallucination=(answers.origin == "hallucination").astype(int))
                middle, low, high = map(percent, share(marked, "hallucination").values())
                rows.append((probe.variant, label, *cells, f"{middle} ({low} to {high})"))
    return table(header, rows, right=header[2:])
