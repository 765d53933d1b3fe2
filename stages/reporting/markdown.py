"""Markdown: templates, which lie beside the code that fills them, and text, escaped once where it enters the page."""

import re
from collections.abc import Callable, Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from stages.reporting.statistics import LEAST_SEEDS, LEVEL
from stages.system.errors import UNSAFE

# What can begin markup within a line. An underscore inside a word is no emphasis and stays readable in the
# source; `://` and `www.` would become links.
SPECIAL = re.compile(r"[\\`*|~$\[\]]|(?<![^\W_])_|_(?![^\W_])|:(?=//)|(?<=www)\.", re.IGNORECASE)
SPACES = re.compile(r"[ \t-\r]+")  # those of other scripts stay


class Markdown(str):
    """Text that is Markdown already and must not be escaped again."""


def escape(text: object) -> Markdown:
    """Return `text` so that Markdown and HTML show it as it is, on one line.

    Spaces, tabs and line ends become single spaces; what a terminal would obey becomes U+FFFD.
    """
    if isinstance(text, Markdown):
        return text
    line = UNSAFE.sub("\ufffd", SPACES.sub(" ", str(text)).strip(" "))
    entities = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return Markdown(SPECIAL.sub(lambda match: f"&#{ord(match[0])};", entities))


def code(text: object) -> Markdown:
    """Return `text`, a name or a command on one line without a backtick, as a code span."""
    return Markdown(f"`{text}`")


def table(header: Sequence[str], rows: Sequence[Sequence[object]], numbers: slice = slice(1, None)) -> Markdown:
    """Return a GitHub table, its cells escaped; numbers: the columns that are set flush right, all but the first."""
    rule = [Markdown("---")] * len(header)
    rule[numbers] = [Markdown("---:")] * len(rule[numbers])
    return Markdown("\n".join(f"| {' | '.join(map(escape, row))} |" for row in (header, rule, *rows)))


def shares_table(first: str, rows: Mapping[str, Mapping[str, float]]) -> Markdown:
    """Return a table of shares, in percent, by the name of the row and of the column; first: the names' heading."""
    header = [first, *next(iter(rows.values()))]
    return table(header, [(name, *map(percent, shares.values())) for name, shares in rows.items()])


def percent(share: float) -> str:
    """Return a share in percent; a dash for NaN."""
    return "–" if isnan(share) else f"{100 * share:.1f}"


def p_value(p: float) -> str:
    """Return a p-value in three decimals; a dash where there is none."""
    return "–" if isnan(p) else "< 0.001" if p < 0.001 else f"{p:.3f}"


def estimate(value: float, ends: Sequence[float], form: str = ".1f") -> str:
    """Return a value with its interval, if it has one: `3.0 (1.5 to 4.5)`."""
    shown = f"{value:{form}}"
    return f"{shown} ({' to '.join(f'{end:{form}}' for end in ends)})" if ends else shown


def short(identity: str) -> str:
    """Return the beginning of a hash, with the + of a commit whose code was changed before the run."""
    return identity[:10] + ("+" if identity.endswith("+") else "")


def fill(template: Path, **values: object) -> Markdown:
    """Return a template's text with the values filled in, each escaped unless it is Markdown already.

    It may include the templates of this folder.
    """
    pages = environment([template.parent, Path(__file__).parent], finalize=escape, keep_trailing_newline=True)
    pages.filters |= {"code": code, "percent": percent, "p_value": p_value, "estimate": estimate, "short": short}
    pages.globals |= {"figure": figure, "least": LEAST_SEEDS, "level": LEVEL}
    return Markdown(pages.get_template(template.name).render(**values))


def environment(folders: Sequence[Path], **options: Any) -> Environment:
    """Return the templates of the `folders`, in which a name without a value is an error."""
    loader = FileSystemLoader(folders)
    return Environment(loader=loader, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, **options)


def figure(name: str, label: str, caller: Callable[[], str]) -> Markdown:
    """Return the picture `name` above its caption, the body of the `call`; label: for readers who do not see it."""
    return Markdown(f"![{escape(label)}]({name})\n\n*{' '.join(caller().split())}*\n")
