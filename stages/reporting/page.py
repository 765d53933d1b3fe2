"""A report as a folder: report.md, index.html with all its pictures, and the files beside them."""

from collections.abc import Mapping
from pathlib import Path

from stages.reporting.html.answers import Predictions
from stages.reporting.html.index import render_index
from stages.system.files import new_folder, write_text


def write_page(target: Path, report: str, files: Mapping[str, str], predictions: Predictions | None = None) -> None:
    """Write the Markdown `report`, its page for a browser and the `files` (text by name) to the folder `target`.

    SVG files are the pictures that the report shows. Raises StudyError where it shows another one; `target` is then
    left as it was.
    """
    pictures = {name: content for name, content in files.items() if name.endswith(".svg")}
    written = {"report.md": report, "index.html": render_index(report, pictures, predictions), **files}
    with new_folder(target) as folder:
        for name, content in written.items():
            write_text(folder / name, content)
