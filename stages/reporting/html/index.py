"""index.html: the report as one file that opens without a network, with a table of all dev answers."""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from stages.reporting.html.answers_table import encode_answers
from stages.reporting.html.conversion import convert
from stages.reporting.html.theme import PAGE, dark

TEMPLATE, STYLE, SCRIPT = "index.html.jinja", "index.css", "index.js"
LARGEST = 5_000_000  # bytes of the file
FOLDER = Path(__file__).parent


def render_index(
    report: str,
    pictures: Mapping[str, str],
    predictions: pd.DataFrame,
    ranking: Sequence[str],
    show_questions: bool,
) -> str:
    """Return index.html for the Markdown `report` with its `pictures` (SVG by file name) and the `predictions`.

    ranking: all variants, best first. Of the predictions as many stand in the page as LARGEST allows. Without
    `show_questions` their table has no question, no gold place and no right answer.
    Raises StudyError where the text shows a picture that is not there.
    """
    page = convert(report, pictures)
    script = (FOLDER / SCRIPT).read_text(encoding="utf-8")
    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    values = {
        "page": page,
        "style": Markup((FOLDER / STYLE).read_text(encoding="utf-8")),
        "script": Markup(script),
        # of the only script that a browser will run in this page
        "script_hash": base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii"),
        "colours": [(name, *pair) for name, pair in PAGE.items()]
        + [(f"c-{colour[1:]}", colour, dark(colour)) for colour in sorted(page.colours)],
        "show_questions": show_questions,
    }
    template = environment.get_template(TEMPLATE)
    none = encode_answers(predictions.head(0), ranking, show_questions, LARGEST)
    rest = len(template.render(answers=none, **values).encode("utf-8")) + 1000  # for the note that some are left out
    answers = encode_answers(predictions, ranking, show_questions, max(0, LARGEST - rest))
    return template.render(answers=answers, **values)
