"""The page's colours, light and dark, and what becomes of a figure's colours in the dark."""

import re

from stages.reporting.style import COLOURS

# by role: on light paper, on dark paper; every text colour has a contrast of 4.5 and more on `paper` and `shade`
PAGE = {
    "paper": ("#ffffff", "#15181c"),
    "shade": ("#f5f5f2", "#1e2227"),  # below headers of tables and controls
    "ink": ("#222222", "#e4e6ea"),
    "soft": ("#595959", "#a9aeb6"),  # remarks
    "rule": ("#d9d9d4", "#353a41"),  # lines between
    "edge": ("#767676", "#8b929c"),  # of controls
    "link": ("#005a94", "#79bdf0"),
    "right": ("#00684c", "#5cc9a4"),
    "wrong": ("#9c4400", "#f0a06a"),
}
# the same hues as on white, each light enough for a dark ground and still apart from the others
BRIGHT = dict(zip(COLOURS, ("#4796d8", "#e8762c", "#22b48a", "#dc97bf", "#e6a62c", "#8fd0f5", "#e4e6ea"), strict=True))
HEXADECIMAL = re.compile(r"#[0-9a-f]{6}(?![0-9a-z])", re.IGNORECASE)


def dark(colour: str) -> str | None:
    """What a figure's `colour` (`#rrggbb`) is on dark paper; None where it is neither a known hue nor a grey.

    Greys keep their place between ink and paper, so that what was drawn stronger stays stronger.
    """
    bright = {light.lower(): each for light, each in BRIGHT.items()}.get(colour.lower())
    if bright:
        return bright
    red, green, blue = _channels(colour)
    if not red == green == blue:
        return None
    ink, paper = PAGE["ink"], PAGE["paper"]
    darkest, lightest = _channels(ink[0])[0], _channels(paper[0])[0]
    share = max(0.0, (red - darkest) / (lightest - darkest))
    mixed = [
        round(near + share * (far - near)) for near, far in zip(_channels(ink[1]), _channels(paper[1]), strict=True)
    ]
    return "#" + "".join(f"{channel:02x}" for channel in mixed)


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colours, 1 to 21, as WCAG 2.2 defines it."""
    brighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    shares = [channel / 255 for channel in _channels(colour)]
    red, green, blue = (each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _channels(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
