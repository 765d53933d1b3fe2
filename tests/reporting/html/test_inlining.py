"""Figures within the page: identifiers apart, colours of the page, readable in the dark."""

from itertools import combinations
from pathlib import Path

import pytest

from stages.reporting.html.inlining import inlined
from stages.reporting.html.theme import BRIGHT, PAGE, contrast, dark
from stages.reporting.style import COLOURS, GREY, INK
from tests.tiny import ROOT

SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="60pt"'
    ' viewBox="0 0 6 4">{}</svg>'
)


def test_identifiers_that_are_referred_to_get_the_prefix_and_others_go() -> None:
    content = (
        '<g id="axes"><path id="m" d="M 0 0"/><clipPath id="p00aa11bb22"><rect/></clipPath>'
        '<use xlink:href="#m" clip-path="url(#p00aa11bb22)"/></g>'
    )
    element = inlined(SVG.format(content), "f1--", "a").element
    assert '<path id="f1--m"' in element
    assert '<use href="#f1--m" clip-path="url(#f1--p00aa11bb22)"' in element
    assert '<clipPath id="f1--p00aa11bb22">' in element
    assert "axes" not in element
    assert "http" not in element


def test_known_colours_follow_the_page() -> None:
    figure = inlined(SVG.format('<path style="fill: #0072B2; stroke: #222222"/>'), "f1--", "a")
    assert 'style="fill: var(--c-0072b2); stroke: var(--c-222222)"' in figure.element
    assert 'class="follows"' in figure.element
    assert figure.colours == {"#0072b2", "#222222", "#000000"}


@pytest.mark.parametrize(
    "content", ['<path style="fill: #440154"/>', '<image xlink:href="data:image/png;base64,AA=="/>']
)
def test_a_heat_map_keeps_its_colours_on_white(content: str) -> None:
    figure = inlined(SVG.format(content + '<path style="fill: #222222"/>'), "f1--", "a")
    assert 'class="white"' in figure.element
    assert "var(--c" not in figure.element
    assert figure.colours == frozenset()


def test_the_label_cannot_leave_its_attribute() -> None:
    assert 'aria-label="&lt;b&gt; &quot;quoted&quot;"' in inlined(SVG.format(""), "f1--", '<b> "quoted"').element


def test_styles_of_a_figure_do_not_reach_the_page() -> None:
    assert "evil" not in inlined(SVG.format("<defs><style>* {evil: 1}</style></defs>"), "f1--", "a").element


@pytest.mark.parametrize("scheme", [0, 1])
def test_text_has_contrast_on_every_ground(scheme: int) -> None:
    for ground in ("paper", "shade"):
        for text in ("ink", "soft", "link", "right", "wrong"):
            assert contrast(PAGE[text][scheme], PAGE[ground][scheme]) >= 4.5, (text, ground)
    assert contrast(PAGE["edge"][scheme], PAGE["paper"][scheme]) >= 3


def test_contrast_is_that_of_the_standard() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)  # WCAG's well-known near miss


def test_figures_are_readable_in_the_dark() -> None:
    paper = PAGE["paper"][1]
    for colour in (INK, GREY, "#000000"):
        assert contrast(dark(colour) or "", paper) >= 4.5
    for colour in COLOURS:
        assert contrast(dark(colour) or "", paper) >= 3, colour
    assert dark("#ffffff") == paper
    assert len(set(BRIGHT.values())) == len(COLOURS)
    for one, other in combinations(BRIGHT.values(), 2):
        assert max(abs(int(one[n : n + 2], 16) - int(other[n : n + 2], 16)) for n in (1, 3, 5)) > 40, (one, other)


def test_a_colour_that_may_mean_something_has_no_counterpart() -> None:
    assert dark("#440154") is None


# shades that mean something: strengths in colour maps, tints of one hue
ON_WHITE = {"influence", "influence_perceiver", "saliency", "saliency_attention", "pretraining"}


@pytest.mark.parametrize("path", sorted(ROOT.glob("reports/quick/compared/*.svg")), ids=lambda path: path.stem)
def test_the_studys_own_figures_follow_the_page_but_for_those_of_shades(path: Path) -> None:
    figure = inlined(path.read_text(encoding="utf-8"), "f1--", "a")
    kind, colours = ("white", False) if path.stem in ON_WHITE else ("follows", True)
    assert f'class="{kind}"' in figure.element
    assert ("#ffffff" in figure.colours) == colours
