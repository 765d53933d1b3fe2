"""How nearly a model knows the places that it does not say: their ranks among all places, in words and as a table."""

from collections.abc import Sequence

import pandas as pd

from stages.reporting.markdown import Markdown, table
from stages.reporting.sections.probes import ASKED, RANKS, Probe

NEAR = (3, 10)  # ranks up to which a place counts as nearly known


def ranks_finding(probe: Probe) -> Markdown:
    """Where the right place stands when the finetuned model answers wrongly."""
    wrong = probe.known[probe.known[ASKED] == 0]
    if wrong.empty:
        return Markdown("No question is answered wrongly.")
    page, question = wrong["pretrained_page_rank"], wrong["finetuned_question_rank"]
    near = [f"among the first {rank} in {_percent(question <= rank)} %" for rank in NEAR]
    return Markdown(
        f"Where the answer is wrong, the right one is {' and '.join(near)} of the cases, of {probe.places:,} places "
        f"ranked by probability. Of all facts answered wrongly {_percent(wrong.memorised == 1)} % were memorised: they "
        "were known, but the question did not reach them. In the page form "
        f"{probe.ranked_form} alone the pretrained weights had the right place first in {_percent(page == 1)} %."
    )


def ranks_table(probes: Sequence[Probe]) -> Markdown:
    """A row for each variant, weights and form: shares of the facts by the rank of the place, and the median rank."""
    header = ("variant", "weights", "form", "first, %", *(f"first {rank}, %" for rank in NEAR), "median rank")
    rows = []
    for probe in probes:
        for name in RANKS:
            weights, form, _ = name.split("_")
            rank = probe.known[name]
            rows.append(
                (
                    probe.variant,
                    weights,
                    probe.ranked_form if form == "page" else form,
                    *(_percent(rank <= bound) for bound in (1, *NEAR)),
                    f"{rank.median():g}",
                )
            )
    return table(header, rows, right=header[3:])


def _percent(told: pd.Series) -> str:
    """The share that is true, in percent."""
    return f"{100 * told.mean():.1f}"
