"""Text of unknown origin on a terminal. Messages hold it as it is; what prints them escapes it, once."""

import re
import sys

# Control characters, what ends a line or sets the direction of all that follows, and halves of characters. Spaces,
# joiners and direction marks stay: Chinese, French, Persian and emoji have them
UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def harmless(text: str, kept: str = "") -> str:
    r"""Escape what a terminal would obey, as in `\x1b`, but for the characters in `kept`."""
    return UNSAFE.sub(lambda match: match[0] if match[0] in kept else repr(match[0])[1:-1], text)


def say(text: str, kept: str = "", end: str = "\n") -> None:
    """Print a text, escaped but for the characters in `kept`, on stdout."""
    print(harmless(text, kept), end=end, flush=True)


def tell(text: str) -> None:
    """Print an escaped line on stderr: a note beside the output."""
    print(harmless(text), file=sys.stderr, flush=True)


def quoted(text: str, limit: int = 60) -> str:
    """Quote at most `limit` characters of a text for a message."""
    return f"'{shortened(text, limit)}'"


def shortened(text: str, limit: int) -> str:
    """At most `limit` characters of a text; an ellipsis stands for the rest."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
