"""What a recipe owes to its parts: the page that compares it with itself, one change at a time."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from stages.reporting.ablation.figure import ablation_svg
from stages.reporting.answers import Marks
from stages.reporting.evaluations import device_of
from stages.reporting.html.index import render_index
from stages.reporting.markdown import Markdown, code, listed, table
from stages.reporting.statistics.intervals import accuracy_interval
from stages.reporting.statistics.significance import (
    Difference,
    Sample,
    compare_pairs,
    shown_p,
    shown_points,
    told_apart,
)
from stages.reporting.tables import short
from stages.reporting.template import fill
from stages.settings import FULL, Ablation
from stages.system.files import new_folder, write_text

TEMPLATE = "ablation.md.jinja"
DECIMALS = 2  # of shares in percent and of points: rounded further, they would not add up


@dataclass(frozen=True, eq=False)
class Ablated:
    """What the weights of one change answer and know.

    correct: (N, 1), a row a held-out question; memorised, asked: a row a fact, that is a question whose answer
    stands in the person's page: whether the pretrained weights spell it in any page form, practised or not, and whether
    the finetuned ones answer the question.
    """

    change: str
    correct: Marks
    memorised: pd.Series
    asked: pd.Series
    pretrain_loss: float
    seconds: float  # of pretraining
    provenance: dict[str, Any]

    @property
    def accuracy(self) -> float:
        """On the held-out questions, in percent."""
        return 100 * float(self.correct.mean())

    @property
    def asked_of_memorised(self) -> float | None:
        """Which share of the memorised facts can be asked, in 0…1; None where there is none."""
        return float(self.asked[self.memorised].mean()) if self.memorised.any() else None


def write_page(target: Path, settings: Ablation, found: Sequence[Ablated]) -> None:
    """Write report.md, index.html and what they show to the folder `target`; `found` holds the change `full`."""
    full = next(each for each in found if each.change == FULL)
    others = sorted((each for each in found if each is not full), key=lambda each: (each.accuracy, each.change))
    pairs = [(Sample(each.change, each.correct), Sample(FULL, full.correct)) for each in others]
    differences = dict(zip([each.change for each in others], compare_pairs(pairs), strict=True))
    ordered = [full, *others]
    text = fill(
        TEMPLATE,
        recipe=settings.recipe,
        variant=settings.variant,
        findings=findings(full, differences),
        table=changes_table(ordered, differences),
        questions=len(full.correct),
        facts=len(full.asked),
        seed=settings.seed,
        shortened=[f"{key}: {value}" for key, value in flat(settings.shortened)],
        changes=[
            (each.change, [f"{key}: {value}" for key, value in flat(settings.changes[each.change])]) for each in others
        ],
        made=sorted({(short(each.provenance["commit"]), device_of(each.provenance)) for each in ordered}),
    )
    rows = pd.DataFrame([figures(each) for each in ordered])
    picture = ablation_svg(rows)
    with new_folder(target) as folder:
        write_text(folder / "report.md", text)
        write_text(folder / "index.html", render_index(text, {"ablation.svg": picture}))
        write_text(folder / "ablation.svg", picture)
        write_text(folder / "ablation.csv", rows.round(4).to_csv(index=False, lineterminator="\n"))


def findings(full: Ablated, differences: dict[str, Difference]) -> Markdown:
    """What the page says first, made from the figures."""
    found = told_apart(differences)
    parts = [f"The full recipe answers {_rounded(full.accuracy)} % of {len(full.correct):,} held-out questions."]
    if found.worse:
        most = min(found.worse, key=lambda name: differences[name].points)
        points = f"{_rounded(-differences[most].points)} points"
        cost = f"costs {points}" if len(found.worse) == 1 else f"cost accuracy, {code(most)} the most ({points})"
        parts.append(f"Of its changes {_names(found.worse)} {cost}.")
    if found.better:
        parts.append(f"Better than the full recipe: {_names(found.better)}.")
    if found.alike:
        parts.append(f"Not shown to matter: {_names(found.alike)}.")
    return Markdown(" ".join(parts))


def changes_table(ordered: Sequence[Ablated], differences: dict[str, Difference]) -> Markdown:
    """A row a change: accuracy, lead over the full recipe, what is memorised, what of it can be asked."""
    header = (
        "change", "answered, %", "points to full (95 % interval)", "corrected p", "memorised, %",
        "asked of memorised, %", "pretraining loss", "seconds of pretraining",
    )  # fmt: skip
    rows = []
    for each in ordered:
        difference, share = differences.get(each.change), each.asked_of_memorised
        rows.append(
            (
                code(each.change),
                _rounded(each.accuracy),
                shown_points(difference, DECIMALS) if difference else "–",
                shown_p(difference.corrected) if difference else "–",
                _rounded(100 * each.memorised.mean()),
                "–" if share is None else _rounded(100 * share),
                f"{each.pretrain_loss:.3f}",
                f"{each.seconds:,.0f}",
            )
        )
    return table(header, rows, right=header[1:])


def figures(ablated: Ablated) -> dict[str, object]:
    """A change's row of ablation.csv; shares in 0…1."""
    low, high = accuracy_interval(ablated.correct, ablated.change)
    return {
        "change": ablated.change,
        "accuracy": float(ablated.correct.mean()),
        "low": low,
        "high": high,
        "memorised": float(ablated.memorised.mean()),
        "asked_of_memorised": ablated.asked_of_memorised,
        "pretrain_loss": ablated.pretrain_loss,
        "seconds": ablated.seconds,
    }


def flat(changes: dict[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    """Nested settings as keys with dots, and their values as params.yaml writes them."""
    pairs = []
    for key, value in changes.items():
        pairs += flat(value, f"{prefix}{key}.") if isinstance(value, dict) else [(f"{prefix}{key}", _in_yaml(value))]
    return pairs


def _in_yaml(value: Any) -> str:
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _names(changes: Sequence[str]) -> Markdown:
    return listed([code(change) for change in changes])


def _rounded(share: float) -> str:
    return f"{share:.{DECIMALS}f}"
