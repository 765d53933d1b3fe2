"""index.html: a report as one file that opens without a network, with a table of all dev answers if there are any."""

import base64
import hashlib
from collections.abc import Mapping
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from stages.reporting.html.answers import Predictions, encode_answers
from stages.reporting.html.conversion import convert
from stages.system.files import new_folder, write_text

FOLDER = Path(__file__).parent


def write_page(target: Path, report: str, files: Mapping[str, str], predictions: Predictions | None = None) -> None:
    """Write the Markdown `report`, index.html and the `files` (text by name) to the folder `target`.

    SVG files are the pictures that the report shows.
    """
    pictures = {name: content for name, content in files.items() if name.endswith(".svg")}
    written = {"report.md": report, "index.html": render_index(report, pictures, predictions), **files}
    with new_folder(target) as folder:
        for name, content in written.items():
            write_text(folder / name, content)


def render_index(report: str, pictures: Mapping[str, str], predictions: Predictions | None = None) -> str:
    """Return index.html for the Markdown `report` with its `pictures` (SVG by file name) and the `predictions`."""
    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    scripts = [_read(name) for name in (*(["answers.js"] if predictions else []), "index.js")]
    return environment.get_template("index.html.jinja").render(
        page=convert(report, pictures),
        answers=encode_answers(predictions) if predictions else None,
        show_questions=predictions is not None and predictions.show_questions,
        style=Markup(_read("index.css")),
        scripts=[Markup(script) for script in scripts],
        # of the only scripts that a browser will run in this page
        hashes=[base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode() for script in scripts],
    )


def _read(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")
