"""Text from data cannot become markup."""

from stages.reporting.markdown import escape

HOSTILE = "A|B <script>`x`\n| *y* [z](http://e.x) __b__ $m$ \\| &amp; www.e.x \u202e"


def test_no_special_character_is_left_bare() -> None:
    text = escape(HOSTILE)
    assert not [bare for bare in (*"|<>`*[]$\\\n~", "://", "www.", "__") if bare in text]
    assert "&amp;amp;" in text  # an entity in the data is shown, not interpreted
    assert text.endswith("\ufffd")  # the character that turns the reading direction
    assert escape(text) == text


def test_ordinary_text_stays_readable() -> None:
    plain = "perceiver_ar, São Paulo, O'Hara (Jr.), 50 %, #1: x@y, क्\u200dष, \u3000第\u00a01\u200f"
    assert escape(plain) == plain
