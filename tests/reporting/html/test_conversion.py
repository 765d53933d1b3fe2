"""Any Markdown of a section comes out well in the page, its figures inlined."""

import html5lib
import pytest

from stages.reporting.html.conversion import Converted, convert
from stages.reporting.html.conversion import inlined
from stages.reporting.html.theme import PAGE
from stages.system.errors import StudyError

SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="60pt"'
    ' viewBox="0 0 6 4">{}</svg>'
)


def converted(text: str) -> Converted:
    page = convert(text, {"one.svg": SVG.format('<path d="M 0 0"/>')})
    html5lib.HTMLParser(strict=True).parseFragment(page.opening + "".join(each.html for each in page.sections))
    return page


def test_headings_of_one_name_have_anchors_of_their_own() -> None:
    page = converted("# A & *b*\n\n## Cost\n\n### Cost\n\n## Cost\n\n## ?!\n\n## Größe *und* `Zeit`\n")
    assert page.title == "A & b"
    assert [each.identifier for each in page.sections] == ["cost-1", "cost-2", "-3", "größe-und-zeit-4"]
    assert page.sections[-1].title == "Größe und Zeit"


def test_the_paragraph_in_italics_below_a_figure_is_its_caption_and_stands_there_only() -> None:
    page = converted("# A\n\n![a &lt;b&gt;](one.svg)\n\n*What &#42;to&#42; `see`,\n5 % &lt;b&gt;.*\n\nwords\n").opening
    said = "What *to* <code>see</code>,\n5\u00a0% &lt;b&gt;."
    assert 'aria-label="a &lt;b&gt;"' in page
    assert f"<figcaption>{said}</figcaption></figure>\n<p>words</p>" in page
    assert page.count("What") == 1


@pytest.mark.parametrize("below", ["words", "*some* words", "words *some*", "*some* and *more*", "**some**"])
def test_another_paragraph_below_a_figure_is_no_caption(below: str) -> None:
    page = converted(f"# A\n\n![alt](one.svg)\n\n{below}\n").opening
    assert "figcaption" not in page and page.endswith("</p>\n")


@pytest.mark.parametrize("name", ["two.svg", "https://example.org/one.svg", "data:image/png;base64,AA=="])
@pytest.mark.parametrize("text", ["{}", "words {}", "- {}", "| a |\n| --- |\n| {} |"])
def test_only_the_reports_own_pictures_can_be_shown(name: str, text: str) -> None:
    with pytest.raises(StudyError, match=r"report\.md: shows"):
        converted(f"# A\n\n{text.format(f'![alt]({name})')}\n")


def test_html_in_the_text_is_shown_not_run() -> None:
    page = converted("# A\n\n<script>alert(1)</script>\n\na <b>c</b> <img src=x> [d](javascript:alert(1))\n").opening
    assert not any(markup in page for markup in ("<script", "<b>", "<img", "href"))


def test_columns_of_numbers_are_marked_and_tables_scroll_by_themselves() -> None:
    html = converted("# A\n\n| a | b |\n| --- | ---: |\n| text | 1 |\n").opening
    assert '<div class="scroll"><table>' in html
    assert '<th scope="col">a</th>\n<th scope="col" class="number">b</th>' in html
    assert '<td>text</td>\n<td class="number">1</td>' in html


def test_links_to_another_report_open_its_page() -> None:
    page = converted("# A\n\n[b](../ablation/report.md) [c](https://example.org/report.md) [d](notes.md)\n").opening
    for target in ("../ablation/index.html", "https://example.org/report.md", "notes.md"):
        assert f'href="{target}"' in page


def test_identifiers_of_a_figure_and_what_refers_to_them_get_the_prefix() -> None:
    content = (
        '<defs><style>* {evil: 1}</style></defs><path id="m" d="M 0 0" style="fill: #222222"/><clipPath id="p0"/>'
        '<use xlink:href="#m" clip-path="url(#p0)"/>'
    )
    element = inlined(SVG.format(content), "f1--", '<b> "quoted"')
    assert '<path id="f1--m" d="M 0 0" style="fill: #222222"' in element
    assert '<clipPath id="f1--p0"' in element and '<use href="#f1--m" clip-path="url(#f1--p0)"' in element
    assert "http" not in element and "evil" not in element  # a figure's style would hold for the whole page
    assert 'aria-label="&lt;b&gt; &quot;quoted&quot;"' in element


@pytest.mark.parametrize("scheme", [0, 1])
def test_text_has_contrast_on_every_ground(scheme: int) -> None:
    for ground in ("paper", "shade"):
        for text in ("ink", "soft", "link", "right", "wrong"):
            assert contrast(PAGE[text][scheme], PAGE[ground][scheme]) >= 4.5, (text, ground)
    assert contrast(PAGE["edge"][scheme], PAGE["paper"][scheme]) >= 3
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)  # WCAG's well-known near miss


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colours, 1 to 21, as WCAG 2.2 defines it."""
    darker, brighter = sorted(map(luminance, (one, other)))
    return (brighter + 0.05) / (darker + 0.05)


def luminance(colour: str) -> float:
    shares = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
