"""index.html: a report as one file that opens without a network, with a table of all dev answers if there are any."""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from stages.reporting.html.answers_table import encode_answers
from stages.reporting.html.conversion import convert
from stages.reporting.html.theme import PAGE, dark

TEMPLATE, STYLE = "index.html.jinja", "index.css"
SCRIPT, ANSWERS_SCRIPT = "index.js", "answers.js"  # of the page, and of its table
LARGEST = 5_000_000  # bytes of the file
FOLDER = Path(__file__).parent


@dataclass(frozen=True, eq=False)
class Predictions:
    """What the page's own table is of. Without `show_questions` it has no question, gold place or right answer."""

    table: pd.DataFrame  # the columns of predictions.tsv
    ranking: Sequence[str]  # all variants, best first
    show_questions: bool


def render_index(report: str, pictures: Mapping[str, str], predictions: Predictions | None = None) -> str:
    """Return index.html for the Markdown `report` with its `pictures` (SVG by file name) and the `predictions`.

    Of the predictions as many stand in the page as LARGEST allows. Raises StudyError where the text shows a picture
    that is not there.
    """
    page = convert(report, pictures)
    scripts = [_read(name) for name in ((ANSWERS_SCRIPT, SCRIPT) if predictions else (SCRIPT,))]
    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    values = {
        "page": page,
        "style": Markup(_read(STYLE)),
        "scripts": [Markup(script) for script in scripts],
        # of the only scripts that a browser will run in this page
        "hashes": [base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode() for script in scripts],
        "colours": [(name, *pair) for name, pair in PAGE.items()]
        + [(f"c-{colour[1:]}", colour, dark(colour)) for colour in sorted(page.colours)],
    }
    template = environment.get_template(TEMPLATE)
    if predictions is None:
        return template.render(answers=None, **values)
    values["show_questions"] = told = predictions.show_questions
    none = encode_answers(predictions.table.head(0), predictions.ranking, told, LARGEST)
    rest = len(template.render(answers=none, **values).encode("utf-8")) + 1000  # for the note that some are left out
    answers = encode_answers(predictions.table, predictions.ranking, told, max(0, LARGEST - rest))
    return template.render(answers=answers, **values)


def _read(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")
