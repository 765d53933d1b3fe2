"""Any Markdown of a section comes out well in the page, its figures inlined."""

import html5lib

from stages.reporting.html import Converted, convert, inlined

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
    assert 'aria-label="a &lt;b&gt;"' in page
    assert f"<figcaption>{caption}</figcaption></figure>\n<p>words</p>" in page
    assert page.count("What") == 1
    for below in ("words", "*some* words", "*some* and *more*"):
        assert "figcaption" not in converted(f"# A\n\n![alt](one.svg)\n\n{below}\n").opening


def test_html_in_the_text_is_shown_not_run() -> None:
    page = converted("# A\n\n<script>alert(1)</script>\n\na <b>c</b> <img src=x> [d](javascript:alert(1))\n").opening
    assert not any(markup in page for markup in ("<script", "<b>", "<img", "href"))


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
