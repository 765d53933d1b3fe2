"""Text of unknown origin, made fit for one line of a terminal."""


def quoted(text: str, limit: int = 60) -> str:
    """Quote `text` for a message: at most `limit` characters of it, unprintable characters escaped."""
    return f"'{shortened(text, limit)}'"


def shortened(text: str, limit: int) -> str:
    """At most `limit` characters of `text`, unprintable characters escaped."""
    shown = harmless(text[: limit + 1])
    return shown if len(shown) <= limit else f"{shown[: limit - 1]}…"


def harmless(text: str) -> str:
    """Escape what a terminal would obey or hide: control, format and other unprintable characters."""
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)
