"""The report's section on attention by hand."""

from pathlib import Path

from jinja2 import UndefinedError

from stages.reporting.evaluations import broken, read_record
from stages.reporting.template import Part, fill

TEMPLATE = "exploration.md.jinja"
PICTURES = ("errors.svg", "heads.svg", "rotation.svg")


def exploration_part(folder: Path) -> Part | None:
    """The section made from what stage `explore` left in `folder`; None where that is not there.

    Raises StudyError where it is broken.
    """
    if not folder.is_dir():
        return None
    path = folder / "exploration.json"
    record = read_record(path)
    try:
        text = fill(TEMPLATE, **record)
        files = {f"exploration_{name}": (folder / name).read_text(encoding="utf-8") for name in PICTURES}
    except (UndefinedError, TypeError, FileNotFoundError) as error:
        raise broken(path, error) from None
    return Part(text, files)
