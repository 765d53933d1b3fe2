"""Any Markdown of a section comes out well in the page."""

import html5lib
import pytest

from stages.reporting.html.conversion import Converted, convert
from stages.system.errors import StudyError

PICTURE = '<svg xmlns="http://www.w3.org/2000/svg" width="60pt" viewBox="0 0 60 40"><path d="M 0 0"/></svg>'


def converted(text: str) -> Converted:
    page = convert(text, {"one.svg": PICTURE})
    html5lib.HTMLParser(strict=True).parseFragment(page.opening + "".join(each.html for each in page.sections))
    return page


def test_headings_of_one_name_have_anchors_of_their_own() -> None:
    page = converted("# A\n\n## Cost\n\n### Cost\n\n## Cost 2\n\n## ?!\n\n## Größe *und* `Zeit`\n")
    assert [each.identifier for each in page.sections] == ["cost", "cost-2-2", "section", "größe-und-zeit"]
    assert page.sections[0].below == [("cost-2", "Cost")]
    assert page.sections[-1].title == "Größe und Zeit"


@pytest.mark.parametrize(
    "text",
    [
        "words\n![alt](one.svg)\nwords",
        "- item\n\n  ![alt](one.svg)\n- ![alt](one.svg)",
        "![alt](one.svg)\n![alt](one.svg)",
        "> ![alt](one.svg)",
        "| a |\n| --- |\n| ![alt](one.svg) |",
        "# ![alt](one.svg)",
        "1. a\n   - b\n\n   | a | b |\n   | --- | ---: |\n   | c | d |\n",
        "```\ncode <b>\n```\n\n***\n\n[a link](https://example.org/?a=1&b=2)",
    ],
)
def test_wherever_a_figure_stands_the_page_is_well_formed(text: str) -> None:
    assert converted(f"# A\n\n{text}\n").opening.count("<svg") == text.count("one.svg")


def test_the_paragraph_in_italics_below_a_figure_is_its_caption_and_stands_there_only() -> None:
    page = converted("# A\n\n![alt](one.svg)\n\n*What &#42;to&#42; `see`,\n5 % &lt;b&gt;.*\n\nwords\n").opening
    said = "What *to* <code>see</code>,\n5\u00a0% &lt;b&gt;."
    assert f"<figcaption>{said}</figcaption></figure>\n\n<p>words</p>" in page
    assert page.count("What") == 1


@pytest.mark.parametrize(
    "below", ["words", "*some* words", "words *some*", "*some* and *more*", "**some**", "# *some*"]
)
def test_another_paragraph_below_a_figure_is_no_caption(below: str) -> None:
    page = converted(f"# A\n\n![alt](one.svg)\n\n{below}\n").opening
    assert "figcaption" not in page and page.endswith(("</p>\n", "</h1>\n"))


def test_a_caption_is_of_the_figure_above_it() -> None:
    page = converted("# A\n\n- ![one](one.svg)\n\n  *First.*\n- ![two](one.svg)\n\n*Last.*\n").opening
    assert page.count("<figcaption>") == 1
    assert "<figcaption>First.</figcaption>" in page and "<p><em>Last.</em></p>" in page


@pytest.mark.parametrize("name", ["two.svg", "https://example.org/one.svg", "data:image/png;base64,AA=="])
def test_only_the_reports_own_pictures_can_be_shown(name: str) -> None:
    with pytest.raises(StudyError, match="no picture of this report"):
        convert(f"# A\n\n![alt]({name})\n", {"one.svg": PICTURE})


def test_html_in_the_text_is_shown_not_run() -> None:
    page = converted("# A\n\n<script>alert(1)</script>\n\na <b>c</b> [d](javascript:alert(1))\n")
    assert "<script" not in page.opening
    assert "<b>" not in page.opening
    assert "href" not in page.opening


def test_numbers_keep_their_percent_signs() -> None:
    assert "5.0\u00a0%" in converted("# A\n\n5.0 % of a %\n").opening
    assert "of a %" in converted("# A\n\n5.0 % of a %\n").opening


@pytest.mark.parametrize("header", ["a header of twenty characters and more", "+12.5 (-10.2 to +27.9) points"])
def test_columns_of_numbers_are_as_narrow_as_their_words(header: str) -> None:
    html = converted(f"# A\n\n| {header} | {header} |\n| --- | ---: |\n| {header} | {header} |\n").opening
    assert html.count(f'<th scope="col" class="long">{header}') == html.count(f'<td class="long">{header}') == 1
    assert html.count(f'<th scope="col" class="number">{header}') == html.count(f'<td class="number">{header}') == 1


def test_columns_of_numbers_are_flush_right_and_long_cells_wide() -> None:
    html = converted("# A\n\n| a | b |\n| --- | ---: |\n| a text of twenty characters and more | 1 |\n").opening
    assert '<th scope="col">a</th>\n<th scope="col" class="number">b</th>' in html
    assert '<td class="long">a text' in html
    assert '<td class="number">1</td>' in html


def test_links_to_another_report_open_its_page() -> None:
    page = converted("# A\n\n[b](../ablation/report.md) [c](https://example.org/report.md) [d](notes.md)\n").opening
    assert 'href="../ablation/index.html"' in page
    assert 'href="https://example.org/report.md"' in page
    assert 'href="notes.md"' in page
