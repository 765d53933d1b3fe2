"""index.html: a report as one file that opens without a network."""

import base64
import hashlib
from collections.abc import Mapping
from pathlib import Path

from markupsafe import Markup

from stages.reporting.html.conversion import convert
from stages.reporting.template import environment
from stages.system.files import new_folder, write_text

FOLDER = Path(__file__).parent
SHARED = FOLDER / "shared.css"


def write_page(target: Path, report: str, files: Mapping[str, str]) -> None:
    """Write the Markdown `report`, index.html and the `files` (text by name) to the folder `target`.

    Among the files are the pictures that the report shows, as SVG.
    """
    template = environment([FOLDER], autoescape=True).get_template("index.html.jinja")
    script = only_script((FOLDER / "index.js").read_text("utf-8"))
    page = template.render(page=convert(report, files), style=style(FOLDER / "index.css"), **script)
    with new_folder(target) as folder:
        for name, content in {"report.md": report, "index.html": page, **files}.items():
            write_text(folder / name, content)


def style(own: Path) -> Markup:
    """Return the style sheet of a page: the rules that all pages share, then the file `own`."""
    return Markup(SHARED.read_text("utf-8") + "\n" + own.read_text("utf-8"))


def only_script(script: str) -> dict[str, Markup | str]:
    """Return `script` and its `digest`, which allows a browser to run this script alone in the page."""
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return {"script": Markup(script), "digest": base64.b64encode(digest).decode()}
