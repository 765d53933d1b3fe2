"""All dev answers in little room, for the page's own table."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
from markupsafe import Markup

HIDDEN = -1  # stands for a right answer that is not told


@dataclass(frozen=True, eq=False)
class Predictions:
    """What the page's own table is of. Without `show_questions` it has no question, gold place or right answer."""

    table: pd.DataFrame  # the columns of predictions.tsv
    ranking: Sequence[str]  # all variants, best first
    show_questions: bool


def encode_answers(predictions: Predictions) -> Markup:
    """Return the dev answers of `predictions` as JSON that ends no script element.

    It holds `rows` (1-based, of the dev file), `places` (all distinct answers) and `runs`, one for each variant, seed
    and init, the best variant first: places by index, right ones as a string of 0 and 1, probabilities.
    """
    table, show_questions = predictions.table, predictions.show_questions
    dev = table[table["split"] == "dev"].astype({"row": int, "seed": int}).sort_values("row", kind="stable")
    asked = dev.drop_duplicates("row")  # of all variants: the paired tests refuse others
    told = dev["predicted"].where(show_questions | (dev["correct"] == "0"))
    places = sorted({*told.dropna(), *(asked["gold"] if show_questions else ())})
    number = {place: index for index, place in enumerate(places)}
    dev = dev.assign(predicted=[number.get(answer, HIDDEN) for answer in told])
    rank = dev["variant"].map(predictions.ranking.index)
    dev = dev.assign(rank=rank).sort_values(["rank", "seed", "init", "row"])  # pretrained before scratch
    content = {
        "shown": show_questions,
        "rows": asked["row"].tolist(),
        "questions": asked["question"].tolist() if show_questions else [],
        "golds": [number[gold] for gold in asked["gold"]] if show_questions else [],
        "places": places,
        "runs": [
            {
                "variant": variant,
                "seed": seed,
                "init": init,
                "predicted": group["predicted"].tolist(),
                "correct": "".join(group["correct"]),
                "probability": [round(float(each), 4) for each in group["probability"]],
            }
            for (variant, seed, init), group in dev.groupby(["variant", "seed", "init"], sort=False)
        ],
    }
    return Markup(json.dumps(content, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c"))
