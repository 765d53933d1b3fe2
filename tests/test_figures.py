"""Figures in README and docs against committed files.

A figure is marked where it stands, by a comment that a reader of the page does not see::

    rope answers 88.5 % (86.1 to 90.9)<!-- reports/unaided/compared/metrics.json: variants.rope dev_accuracy … -->

The comment checks the figures directly before it; in a row of a table, all figures of the row up to it. Of a JSON file
it names a section and the keys of the figures, in their order. Of any other file it has words, with commas between
them, and each figure stands in the only line that has all of them. A figure may be rounded, and a share be in percent.
"""

import json
import os
import re
from functools import reduce
from operator import getitem

import pytest

from tests.support.pages import TEXTS
from tests.support.tiny import ROOT

COMMENT = re.compile(r"<!-- ((?:reports|docs)/[\w./-]+): ([^>]+) -->")
NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d,]*(?:\.\d+)?")
BEFORE = re.compile(r"(?:[-+]?\d[\d,.]*|\bto\b|\band\b|[%*(),;\s])+$")  # figures, with the words that join them

MARKED = [
    (page, file, key, line[start : found.start()])
    for page, text in TEXTS.items()
    for line in re.sub(r"(?<!\|)\n(?!\|)", " ", text).splitlines()  # a sentence may go on in the next line
    for start, found in zip(
        [0, *(found.end() for found in COMMENT.finditer(line))], COMMENT.finditer(line), strict=False
    )
    for file, key in [found.groups()]
]


def figures(before: str) -> list[str]:
    """The figures that a comment behind this text checks."""
    before = re.sub(r"\]\([^)]*\)|`[^`]*`", "", before)  # links and names
    if not before.lstrip().startswith("|"):
        before = found[0] if (found := BEFORE.search(before)) else ""
    return [number.rstrip(",").replace(",", "") for number in NUMBER.findall(before)]


def is_rounded(shown: str, value: float) -> bool:
    """Whether a figure is a value, rounded to the decimals that are shown."""
    decimals = len(shown.partition(".")[2])
    return abs(float(shown) - value) <= 0.5 * 10**-decimals + 1e-9


@pytest.mark.skipif("PUBLISHED" not in os.environ, reason="reports of one's own have other figures")
@pytest.mark.parametrize(("page", "file", "key", "before"), MARKED)
def test_a_marked_figure_is_that_of_its_file(page: str, file: str, key: str, before: str) -> None:
    shown = figures(before)
    content = (ROOT / file).read_text(encoding="utf-8")
    if file.endswith(".json"):
        section, *names = key.split()
        values = reduce(getitem, section.split("."), json.loads(content))
        expected = [values[name] for name in names] if names else [values]
        assert len(shown) == len(expected), (shown, expected)
        assert all(map(is_rounded, shown, expected)), (shown, expected)
        return
    words = [word.strip() for word in key.split(",")]
    (line,) = [line for line in content.splitlines() if all(word in line for word in words)]
    numbers = [float(number.replace(",", "").rstrip(",")) for number in re.findall(NUMBER, line)]
    assert shown
    for figure in shown:
        assert any(is_rounded(figure, scale * number) for number in numbers for scale in (1, 100)), (figure, line)


def test_pages_mark_their_figures() -> None:
    assert {"README.md", "docs/variants.md"} <= {page for page, *_ in MARKED}
