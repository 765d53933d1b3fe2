"""All dev answers in little room, for the page's own table."""

import json
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from markupsafe import Markup

from stages.reporting.evaluations import INITS, REMAKE
from stages.system.errors import StudyError

HIDDEN = -1  # stands for a right answer that is not told


@dataclass(frozen=True)
class Answers:
    """The answers as JSON, and how many of all are in it; nothing in it ends a script element (ASCII, no `<`)."""

    json: Markup
    kept: int
    total: int


def encode_answers(predictions: pd.DataFrame, ranking: Sequence[str], show_questions: bool, limit: int) -> Answers:
    """Return the dev answers of `predictions` (columns of predictions.tsv) in at most `limit` bytes of JSON.

    It holds `rows` (the 1-based rows of the dev file), `places` (all distinct answers) and `runs`, one for each
    variant, seed and init, with their answers in the order of `rows`: places by index, right ones as a string of 0 and
    1, probabilities. Runs stand in the order of `ranking`; where not all fit, further seeds are left out first, then
    the models from scratch. Without `show_questions` neither questions nor gold places nor right answers are in it.
    Raises StudyError where the variants were asked different questions, or a probability is no number.
    """
    dev = predictions[predictions["split"] == "dev"]
    asked = dev[["row", "question", "gold"]].drop_duplicates()
    asked = asked.assign(row=asked["row"].astype(int)).sort_values("row")
    if asked["row"].duplicated().any():
        raise StudyError(f"predictions.tsv: not all variants were asked the same questions; {REMAKE}")
    ordered = dev.assign(row=dev["row"].astype(int), seed=dev["seed"].astype(int)).sort_values("row", kind="stable")
    runs = [(*key, group) for key, group in ordered.groupby(["variant", "seed", "init"])]
    runs.sort(key=lambda run: (run[1], -INITS.index(run[2]), ranking.index(run[0])))  # what is dropped first, last
    texts: dict[int, str] = {}

    def size(count: int) -> int:
        kept = sorted(runs[:count], key=lambda run: (ranking.index(run[0]), run[1], -INITS.index(run[2])))
        content = _content(kept, asked if kept else asked.head(0), show_questions)
        texts[count] = json.dumps(content, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
        return len(texts[count])

    count = len(runs)
    try:
        if size(count) > limit:
            count = max(0, bisect_right(range(len(runs)), limit, key=size) - 1)
            size(count)
    except ValueError as error:
        raise StudyError(f"predictions.tsv: a probability is no number ({error}); {REMAKE}") from None
    return Answers(Markup(texts[count]), count * len(asked), len(dev))


def _content(runs: Sequence[tuple[Any, ...]], asked: pd.DataFrame, show_questions: bool) -> dict[str, Any]:
    told = [group["predicted"].where(show_questions | (group["correct"] == "0")) for *_, group in runs]
    golds = set(asked["gold"]) if show_questions else set()
    places = sorted(golds.union(*(answers.dropna() for answers in told)))
    number = {place: index for index, place in enumerate(places)}
    return {
        "shown": show_questions,
        "rows": asked["row"].tolist(),
        "questions": asked["question"].tolist() if show_questions else [],
        "golds": [number[gold] for gold in asked["gold"]] if show_questions else [],
        "places": places,
        "runs": [
            {
                "variant": variant,
                "seed": int(seed),
                "init": init,
                "predicted": [number.get(answer, HIDDEN) for answer in answers],
                "correct": "".join(group["correct"]),
                "probability": [round(float(each), 4) for each in group["probability"]],
            }
            for (variant, seed, init, group), answers in zip(runs, told, strict=True)
        ],
    }
