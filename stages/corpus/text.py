"""Text as numbers: the characters that a model knows, and spellings that count as one."""

import hashlib
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

APOSTROPHES = "'’‘ʼ"
SPACES = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
PLAIN = str.maketrans(dict.fromkeys(SPACES, " ") | dict.fromkeys(APOSTROPHES, "'"))
PAD_CHARACTER = "□"  # number 0: fills the end of a sequence
MASK_CHARACTER = "⁇"  # number 1: opens and closes what is to be said


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


@dataclass(frozen=True)
class Vocabulary:
    """The characters a model knows; a character's number is its index in `characters`.

    □ is 0, ⁇ is 1, then the corpus's characters in code point order (CS224N assignment 5).
    """

    characters: tuple[str, ...]

    @classmethod
    def of(cls, documents: Iterable[str]) -> "Vocabulary":
        """Collect the characters of a corpus, a text file with a document a line: the line feed is one of them."""
        characters = {"\n"}.union(*map(set, documents)) - {PAD_CHARACTER, MASK_CHARACTER}
        return cls((PAD_CHARACTER, MASK_CHARACTER, *sorted(characters)))

    @property
    def sha256(self) -> str:
        """The digest of the characters in their order: weights trained with other ones say other things."""
        return hashlib.sha256("".join(self.characters).encode()).hexdigest()

    def __len__(self) -> int:
        return len(self.characters)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Character → number."""
        return {character: number for number, character in enumerate(self.characters)}

    def encode(self, text: str) -> np.ndarray:
        """Text → (len(known text),) int64.

        A character outside the vocabulary becomes another spelling of it (see `corpus.text`) or its base
        letters where those are known ('ế' → 'e', 'ﬁ' → 'fi'), else it is left out. That is the one rule
        for questions of any split, so a question never fails; `unknown` tells which characters are lost.
        """
        if not self.numbers.keys() >= set(text):
            text = "".join(map(self._known_form, self._composed(text)))
        return np.fromiter(map(self.numbers.__getitem__, text), dtype=np.int64, count=len(text))

    def unknown(self, text: str) -> list[str]:
        """List the characters of `text` that the vocabulary lacks in any spelling, in order."""
        lacking = [character for character in self._composed(text) if character not in self.numbers]
        return [character for character in lacking if folded(self._known_form(character)) != folded(character)]

    def decode(self, numbers: Iterable[int]) -> str:
        """Numbers → text."""
        return "".join(self.characters[number] for number in numbers)

    def _composed(self, text: str) -> str:
        """Write the text in NFC where the vocabulary has more of that."""
        forms = text, unicodedata.normalize("NFC", text)
        return min(forms, key=lambda form: sum(character not in self.numbers for character in form))

    def _known_form(self, character: str) -> str:
        if character in self.numbers:
            return character
        if character in APOSTROPHES:
            return next(filter(self.numbers.__contains__, APOSTROPHES), "")
        decomposed = unicodedata.normalize("NFKD", character)
        return "".join(part for part in decomposed if part in self.numbers)
