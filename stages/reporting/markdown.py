"""Markdown from data: text is escaped once, at the place where it enters the page."""

import re
from collections.abc import Sequence

from stages.system.terminal import UNSAFE

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


def table(header: Sequence[str], rows: Sequence[Sequence[object]], right: Sequence[str] = ()) -> Markdown:
    """Return a GitHub table; the columns named in `right` are set flush right, cells are escaped."""
    rule = [Markdown("---:" if name in right else "---") for name in header]
    return Markdown("\n".join(f"| {' | '.join(map(escape, row))} |" for row in (header, rule, *rows)))
