"""index.html: a report as one file that opens without a network, with a table of all dev answers if there are any."""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from stages.reporting.html.conversion import convert
from stages.reporting.template import environment
from stages.system.files import new_folder, write_text

FOLDER = Path(__file__).parent


def write_page(target: Path, report: str, files: Mapping[str, str], answers: Mapping[str, Any] | None = None) -> None:
    """Write the Markdown `report`, index.html and the `files` (text by name) to the folder `target`.

    Among the files are the pictures that the report shows, as SVG; answers: `answers_data`.
    """
    written = {"report.md": report, "index.html": render_index(report, files, answers), **files}
    with new_folder(target) as folder:
        for name, content in written.items():
            write_text(folder / name, content)


def render_index(report: str, files: Mapping[str, str], answers: Mapping[str, Any] | None = None) -> str:
    """Return index.html for the Markdown `report` with its pictures and the `answers`: see `write_page`."""
    names = ["answers.js", "index.js"] if answers else ["index.js"]
    scripts = [(FOLDER / name).read_text("utf-8") for name in names]
    encoded = json.dumps(answers, separators=(",", ":"), allow_nan=False)
    template = environment([FOLDER], autoescape=True).get_template("index.html.jinja")
    return template.render(
        page=convert(report, files),
        answers=answers,
        data=Markup(encoded.replace("<", "\\u003c")),  # ends no script element
        style=Markup((FOLDER / "index.css").read_text("utf-8")),
        scripts=[Markup(script) for script in scripts],
        # of the only scripts that a browser will run in this page
        hashes=[base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode() for script in scripts],
    )


def answers_data(table: pd.DataFrame, ranking: Sequence[str], show_questions: bool) -> dict[str, Any]:
    """Return the dev answers of `table` (predictions.tsv) for JSON; `ranking` holds all variants, best first.

    It holds `rows` (1-based, of the dev file), `places` (all distinct answers) and `runs`, one for each variant, seed
    and init, the best variant first: places by index, right ones as a string of 0 and 1, probabilities. Without
    `show_questions` it has no question, gold place or right answer: -1 stands for the last.
    """
    dev = table[table["split"] == "dev"].astype({"row": int, "seed": int}).sort_values("row", kind="stable")
    asked = dev.drop_duplicates("row")  # of all variants: the paired tests refuse others
    told = dev["predicted"].where(show_questions | (dev["correct"] == "0"))
    places = sorted({*told.dropna(), *(asked["gold"] if show_questions else ())})
    dev = dev.assign(predicted=pd.Categorical(told, places).codes, rank=dev["variant"].map(ranking.index))
    dev = dev.sort_values(["rank", "seed", "init", "row"])  # pretrained before scratch
    return {
        "shown": show_questions,
        "rows": asked["row"].tolist(),
        "questions": asked["question"].tolist() if show_questions else [],
        "golds": pd.Categorical(asked["gold"], places).codes.tolist() if show_questions else [],
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
