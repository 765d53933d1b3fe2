"""What is printed of texts of unknown origin: any script as it is, and nothing that a terminal would obey."""

import sys

import pytest

from stages.system.errors import harmless, quoted, say, tell
from tests.support.talking import is_obeyed


def test_what_a_terminal_obeys_is_escaped_and_no_other_character() -> None:
    for letter in map(chr, range(sys.maxunicode + 1)):
        assert (harmless(letter) != letter) == is_obeyed(letter), hex(ord(letter))


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("\x1b[2J", r"\x1b[2J"),
        ("a\nb\tc\x7f\x9b", r"a\nb\tc\x7f\x9b"),
        ("abc\u202edef\u2066", r"abc\u202edef\u2066"),
        ("\u2028", r"\u2028"),
        ("\ud800", r"\ud800"),
        (r"C:\new", r"C:\new"),
        ("\u3000第一回", "\u3000第一回"),
        ("l’art\u00a0: «\u202foui\u202f»", "l’art\u00a0: «\u202foui\u202f»"),
        ("می\u200cروم", "می\u200cروم"),
        ("👩\u200d🔬", "👩\u200d🔬"),
        ("א\u200e1\u200f", "א\u200e1\u200f"),
    ],
)
def test_a_text_is_printed_as_it_is_but_for_what_a_terminal_obeys(
    text: str, printed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    say(text)
    tell(text)
    assert capsys.readouterr() == (f"{printed}\n", f"{printed}\n")


def test_a_passage_keeps_its_lines(capsys: pytest.CaptureFixture[str]) -> None:
    say("a\n\tb\r\x1b", kept="\n\t", end="")
    assert capsys.readouterr().out == "a\n\tb\\r\\x1b"


@pytest.mark.parametrize(("length", "shown"), [(60, "x" * 60), (61, "x" * 59 + "…")])
def test_a_quotation_of_a_long_text_is_cut(length: int, shown: str) -> None:
    assert quoted("x" * length) == f"'{shown}'"
