"""Any Markdown of a section comes out well in the page, its figures as data."""

import re
from base64 import b64decode

import html5lib

from stages.reporting.html import Converted, convert

NAMESPACES = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
SVG = f'<svg {NAMESPACES} width="60pt" viewBox="0 0 6 4">{{}}</svg>'


def converted(text: str) -> Converted:
    page = convert(text, {"one.svg": SVG.format('<path d="M 0 0"/>')})
    html5lib.HTMLParser(strict=True).parseFragment(page.opening + "".join(section.html for section in page.sections))
    return page


def test_headings_of_one_name_have_anchors_of_their_own() -> None:
    page = converted("# A & *b*\n\n## Cost\n\n### Cost\n\n## Cost\n\n## ?!\n\n## Größe *und* `Zeit`\n")
    assert page.title == "A & b"
    assert [section.identifier for section in page.sections] == ["cost", "cost-1", "-0", "größe-und-zeit"]
    assert page.sections[-1].title == "Größe und Zeit"


def test_the_paragraph_in_italics_below_a_figure_is_its_caption_and_stands_there_only() -> None:
    page = converted("# A\n\n![a &lt;b&gt;](one.svg)\n\n*What &#42;to&#42; `see`,\n5 % &lt;b&gt;.*\n\nwords\n").opening
    caption = "What *to* <code>see</code>,\n5\u00a0% &lt;b&gt;."
    assert 'alt="a &lt;b&gt;"' in page
    assert f"<figcaption>{caption}</figcaption></figure>\n<p>words</p>" in page
    assert page.count("What") == 1
    for below in ("words", "*some* words", "*some* and *more*"):
        assert "figcaption" not in converted(f"# A\n\n![alt](one.svg)\n\n{below}\n").opening


def test_html_in_the_text_is_shown_not_run() -> None:
    page = converted("# A\n\n<script>alert(1)</script>\n\na <b>c</b> <img src=x> [d](javascript:alert(1))\n").opening
    assert not any(markup in page for markup in ("<script", "<b>", "<img", "href"))


def test_a_figure_is_data_as_wide_as_it_was_drawn_and_has_its_label() -> None:
    page = converted('# A\n\n![<b> "quoted"](one.svg)\n').opening
    data = re.search(r'src="data:image/svg\+xml;base64,([^"]+)"', page)
    assert data and b64decode(data[1]).decode() == SVG.format('<path d="M 0 0"/>')
    assert 'alt="&lt;b&gt; &quot;quoted&quot;"' in page and "--width: 80px" in page  # 60 points


def test_the_first_cell_of_a_row_is_its_heading_and_numbers_have_a_class() -> None:
    page = converted("# A\n\n| a | b |\n| --- | ---: |\n| [r](../q/report.md) | 5 % |\n").opening
    assert '<th scope="col">a</th>' in page and '<th class="number" scope="col">b</th>' in page
    assert '<th scope="row"><a href="../q/index.html">r</a></th>' in page
    assert '<td class="number">5\u00a0%</td>' in page
