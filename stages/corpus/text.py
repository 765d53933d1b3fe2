"""Text as numbers: spellings that count as one, characters, rows of different lengths, and where a title ends."""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

APOSTROPHES = "'’‘ʼ"
SPACES = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
PLAIN = str.maketrans(dict.fromkeys(SPACES, " ") | dict.fromkeys(APOSTROPHES, "'"))
PAD_CHARACTER = "□"  # number 0: fills the end of a sequence
MASK_CHARACTER = "⁇"  # number 1: opens and closes what is to be said
END = re.compile(r"\.(?=\s)")
LONGEST = 200  # characters of a title
LAST_WORD = re.compile(r"\w+$")
ABBREVIATION = re.compile(r"(?:^|[\s.])(?:\w|Jr|Sr|St|Dr|Mr|Mrs)$")  # 5 characters at most: `.Mrs\n`


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


@dataclass(frozen=True)
class Ragged:
    """Encoded texts, or other rows, end to end: row i is tokens[offsets[i]:offsets[i + 1]]."""

    tokens: np.ndarray  # (total length,) of integers, where they are texts
    offsets: np.ndarray  # (rows + 1,) int64

    @classmethod
    def of(cls, rows: Sequence[np.ndarray]) -> "Ragged":
        """Join rows (each (length,) of integers)."""
        offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
        return cls(np.concatenate([np.empty(0, np.uint8), *rows]), offsets)

    @classmethod
    def gather(cls, rows: Iterable[Sequence[Any]], dtype: np.dtype) -> "Ragged":
        """Join rows of `dtype`, which may be pairs of numbers, as they are made: no two are in memory at once."""
        lengths = [0]

        def elements() -> Iterator[Any]:
            for row in rows:
                lengths.append(len(row))
                yield from row

        tokens = np.fromiter(elements(), dtype)
        return cls(tokens, np.cumsum(lengths))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> np.ndarray:
        return self.tokens[self.offsets[row] : self.offsets[row + 1]]

    @property
    def lengths(self) -> np.ndarray:
        """(rows,) how long each is."""
        return np.diff(self.offsets)


def possible_titles(document: str) -> Iterator[str]:
    """List what stands before each full stop that a space follows, the shortest first."""
    return (document[: match.start()] for match in END.finditer(document, 0, LONGEST + 1))


def title_lengths(documents: Sequence[str], names: Collection[str] = ()) -> np.ndarray:
    """(documents,) the length of each document's title; 0 where there is none.

    names: whom questions ask about, in any spelling. A title is the longest possible one that is among them. Else it
    ends at the first full stop that does not follow an initial or an abbreviation. Which words these are is learned
    from the titles among the names, where they settle it: in Malcolm X a letter ends the title, in J. R. Smith none.
    """
    names = {*map(folded, names)}
    named: list[str] = []  # the title of each document if it is among the names, else ""
    closing, inner = Counter[str](), Counter[str]()  # last words of these titles, and words before a full stop in them
    for document in documents:
        title = max((part for part in possible_titles(document) if folded(part) in names), key=len, default="")
        named.append(title)
        if title:
            closing[_kind(title)] += 1
            inner.update(_kind(part) for part in possible_titles(title + " ") if part)

    def closes(title: str) -> bool:
        kind = _kind(title)
        if closing[kind] != inner[kind]:
            return closing[kind] > inner[kind]
        return not ABBREVIATION.search(title[-5:])

    lengths = np.zeros(len(documents), np.int64)
    for row, (title, document) in enumerate(zip(named, documents, strict=True)):
        lengths[row] = len(title or next(filter(closes, possible_titles(document)), ""))
    return lengths


def _kind(title: str) -> str:
    """Find the last word of a title; letters that stand alone are of one kind, and so are numbers."""
    match = LAST_WORD.search(title[-LONGEST:])
    word = match[0] if match else ""
    return "0" if word.isdecimal() else "a" if len(word) == 1 else word


def pages_about(documents: Sequence[str], names: Collection[str]) -> dict[str, list[str]]:
    """Find the documents whose title is a name, by name, in any spelling; not all have one."""
    pages: dict[str, list[str]] = {}  # by folded title
    for document, end in zip(documents, title_lengths(documents, names), strict=True):
        pages.setdefault(folded(document[:end]), []).append(document)
    return {name: pages[folded(name)] for name in names if folded(name) in pages}


def longest_title(titles: Collection[str], question: str) -> str:
    """Find the longest title in a question, of LONGEST characters at most; empty without.

    Of several as long the first that stands alone is taken, without a letter or digit beside it, or else the first.
    """
    whole = len(question)
    ends = ((start, end) for start in range(whole) for end in range(start + 1, min(start + LONGEST, whole) + 1))
    found = [(start, end) for start, end in ends if question[start:end] in titles]

    def rank(part: tuple[int, int]) -> tuple[int, bool]:
        start, end = part
        beside = question[start - 1 : start] + question[end : end + 1]
        return end - start, not any(map(str.isalnum, beside))

    start, end = max(found, key=rank, default=(0, 0))
    return question[start:end]
