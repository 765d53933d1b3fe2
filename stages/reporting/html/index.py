"""index.html: a report as one file that opens without a network, with a table of all dev answers if there are any."""

import base64
import hashlib
from collections.abc import Mapping
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from stages.reporting.html.answers import Predictions, encode_answers
from stages.reporting.html.conversion import convert
from stages.reporting.html.theme import PAGE

TEMPLATE, STYLE = "index.html.jinja", "index.css"
SCRIPT, ANSWERS_SCRIPT = "index.js", "answers.js"  # of the page, and of its table
FOLDER = Path(__file__).parent


def render_index(report: str, pictures: Mapping[str, str], predictions: Predictions | None = None) -> str:
    """Return index.html for the Markdown `report` with its `pictures` (SVG by file name) and the `predictions`.

    Raises StudyError where the text shows a picture that is not there.
    """
    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    scripts = [_read(name) for name in ((ANSWERS_SCRIPT, SCRIPT) if predictions else (SCRIPT,))]
    return environment.get_template(TEMPLATE).render(
        page=convert(report, pictures),
        answers=encode_answers(predictions) if predictions else None,
        show_questions=predictions is not None and predictions.show_questions,
        style=Markup(_read(STYLE)),
        scripts=[Markup(script) for script in scripts],
        # of the only scripts that a browser will run in this page
        hashes=[base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode() for script in scripts],
        colours=[(name, *pair) for name, pair in PAGE.items()],
    )


def _read(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")
