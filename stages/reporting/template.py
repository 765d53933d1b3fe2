"""Markdown templates; each lies beside the code that fills it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from stages.reporting.markdown import Markdown, code, escape
from stages.reporting.statistics.intervals import LEAST_SEEDS
from stages.reporting.statistics.significance import LEVEL, shown_p
from stages.reporting.tables import percent

SHARED = Path(__file__).parent / "sections"  # has the templates that several pages include


@dataclass(frozen=True)
class Part:
    """A section of a page, and the files beside it, by name."""

    text: Markdown
    files: dict[str, str] = field(default_factory=dict)


def fill(beside: str, template: str, **values: object) -> Markdown:
    """Return a template's text with the values filled in, each escaped unless it is Markdown already.

    beside: a file in the template's folder.
    """
    pages = environment([Path(beside).parent, SHARED], finalize=escape, keep_trailing_newline=True)
    pages.filters |= {"code": code, "percent": percent, "p_value": shown_p}
    pages.globals |= {"figure": figure, "least": LEAST_SEEDS, "level": LEVEL}
    return Markdown(pages.get_template(template).render(**values))


def environment(folders: Sequence[Path], **options: Any) -> Environment:
    """Return the templates of the `folders`, in which a name without a value is an error."""
    loader = FileSystemLoader(folders)
    return Environment(loader=loader, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, **options)


def figure(name: str, label: str, caller: Callable[[], str]) -> Markdown:
    """Return the picture `name` above its caption, the body of the `call`; label: for readers who do not see it."""
    return Markdown(f"![{escape(label)}]({name})\n\n*{' '.join(caller().split())}*\n")
