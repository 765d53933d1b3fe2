"""Markdown from data: text is escaped once, at the place where it enters the page."""

import re
from collections.abc import Sequence

# What can begin markup within a line. An underscore inside a word is no emphasis and stays readable in the
# source; `://` and `www.` would become links.
SPECIAL = re.compile(r"[\\`*|~$\[\]]|(?<![^\W_])_|_(?![^\W_])|:(?=//)|(?<=www)\.", re.IGNORECASE)
JOINERS = "\u200c\u200d"  # Persian and Indic scripts have them, for instance


class Markdown(str):
    """Text that is Markdown already and must not be escaped again."""


def escape(text: object) -> Markdown:
    """Return `text` so that Markdown and HTML show it as it is, on one line.

    White space becomes single spaces; other unprintable characters become U+FFFD, but for the two joiners.
    """
    if isinstance(text, Markdown):
        return text
    line = " ".join(str(text).split())
    printable = "".join(letter if letter.isprintable() or letter in JOINERS else "\ufffd" for letter in line)
    entities = printable.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return Markdown(SPECIAL.sub(lambda match: f"&#{ord(match[0])};", entities))


def code(text: object) -> Markdown:
    """Return `text`, a name or a command on one line without a backtick, as a code span."""
    return Markdown(f"`{text}`")


def table(header: Sequence[str], rows: Sequence[Sequence[object]], right: Sequence[str] = ()) -> Markdown:
    """Return a GitHub table; the columns named in `right` are set flush right, cells are escaped."""
    rule = [Markdown("---:" if name in right else "---") for name in header]
    return Markdown("\n".join(f"| {' | '.join(map(escape, row))} |" for row in (header, rule, *rows)))
