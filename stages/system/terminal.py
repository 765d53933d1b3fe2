"""Text of unknown origin, made fit for one line of a terminal."""


def quoted(text: str, limit: int = 60) -> str:
    """Quote `text` for a message: at most `limit` characters of it, unprintable characters escaped."""
    short = text if len(text) <= limit else text[: limit - 1] + "…"
    return f"'{harmless(short)}'"


def harmless(text: str) -> str:
    """Escape what a terminal would obey or hide: control, format and other unprintable characters."""
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)
