"""When two spellings count as one: letters in other code points, other spaces, other apostrophes."""

import unicodedata
from collections.abc import Iterable

APOSTROPHES = "'’‘ʼ"
SPACES = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
PLAIN = str.maketrans(dict.fromkeys(SPACES, " ") | dict.fromkeys(APOSTROPHES, "'"))


def folded(text: str) -> str:
    """Write the text in NFC, with plain spaces and straight apostrophes."""
    return text if text.isascii() else unicodedata.normalize("NFC", text.translate(PLAIN))


def around(text: str, name: str) -> tuple[str, str] | None:
    """Split a text at the first `name`, both folded where it is spelled otherwise; None without."""
    for whole, part in ((text, name), (folded(text), folded(name))):
        before, match, after = whole.partition(part)
        if match:
            return before, after
    return None


def spelled_as(gold: Iterable[str], answers: Iterable[str]) -> list[str]:
    """Write the answers, each in the spelling of its gold answer where the two count as one."""
    pairs = zip(gold, answers, strict=True)
    return [right if folded(right) == folded(answer) else answer for right, answer in pairs]
