"""The Markdown of a report as a page: whole, alone and harmless."""

import re
from base64 import b64decode
from pathlib import Path
from xml.etree.ElementTree import Element

import html5lib
import pytest

from stages.reporting.html import Page, convert
from tests.support.example import reported, write_baseline, write_variant
from tests.support.tiny import ROOT

SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="60pt" viewBox="0 0 6 4"><path d="M 0 0"/></svg>'
HOSTILE = "</script><!--<script>alert(1)</script><img src=x onerror=alert(1)> \"'&amp; ` \u202eסבא e\u0301 \u0085{}"


def converted(text: str) -> Page:
    page = convert(text, {"one.svg": SVG})
    html5lib.HTMLParser(strict=True).parseFragment(page.opening + "".join(section.html for section in page.sections))
    return page


def parsed(page: str) -> Element:
    """The document, or an error at the first place where it is not well-formed."""
    return html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(page)


def test_a_figure_is_data_as_wide_as_it_was_drawn_with_its_label_and_its_caption() -> None:
    text = '# A\n\n![<b> "quoted"](one.svg)\n\n*What &#42;to&#42; `see`,\n5 % &lt;b&gt;.*\n\nwords\n'
    page = converted(text).opening
    data = re.search(r'src="data:image/svg\+xml;base64,([^"]+)"', page)
    assert data and b64decode(data[1]).decode() == SVG
    assert 'alt="&lt;b&gt; &quot;quoted&quot;"' in page and "--width: 80px" in page  # 60 points
    caption = "What *to* <code>see</code>,\n5\u00a0% &lt;b&gt;."
    assert f"<figcaption>{caption}</figcaption></figure>\n<p>words</p>" in page and page.count("What") == 1


def test_the_first_cell_of_a_row_is_its_heading_and_numbers_have_a_class() -> None:
    page = converted("# A\n\n| a | b |\n| --- | ---: |\n| [r](../q/report.md) | 5 % |\n").opening
    assert '<th scope="col">a</th>' in page and '<th class="number" scope="col">b</th>' in page
    assert '<th scope="row"><a href="../q/index.html">r</a></th>' in page
    assert '<td class="number">5\u00a0%</td>' in page


@pytest.mark.parametrize("report", sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("reports/**/index.html")))
def test_links_of_a_report_reach_what_they_name(report: str) -> None:
    elements = [*parsed((ROOT / report).read_text(encoding="utf-8")).iter()]
    links = {element.get("href", "") for element in elements if element.tag == "a"}
    assert {link[1:] for link in links if link.startswith("#")} <= {element.get("id") for element in elements}
    files = [link.partition("#")[0] for link in links if not link.startswith(("#", "https:"))]
    assert [file for file in files if not (ROOT / report).parent.joinpath(file).is_file()] == []


def test_hostile_data_are_text_nothing_is_loaded_and_the_structure_serves_those_who_do_not_see_it(
    tmp_path: Path,
) -> None:
    write_baseline(tmp_path / "evaluations", place="</script><b>London")
    write_variant(tmp_path / "evaluations", "rope", ([0] * 10,), ([1] * 5 + [0] * 5,), person=HOSTILE)
    questions = tmp_path / "evaluations/baseline/questions.tsv"
    content = questions.read_text(encoding="utf-8").replace("Where was NAME born?", HOSTILE.replace('"', ""), 5)
    questions.write_text(content, encoding="utf-8")
    page = (reported(tmp_path / "evaluations", "rope") / "index.html").read_text(encoding="utf-8")
    tree = parsed(page)
    names = [element.get("id") for element in tree.iter() if element.get("id")]
    assert len(names) == len(set(names)) and "default-src 'none'" in page
    assert [script.get("type") for script in tree.iter("script")] == [None]
    images = [*tree.iter("img")]
    assert all(image.get("src", "").startswith("data:image/svg+xml;base64,") for image in images)
    assert not {element.tag for element in tree.iter()} & {"b", "link", "iframe", "object", "embed", "base", "source"}
    handlers = [name for element in tree.iter() for name in element.keys() if str(name).startswith("on")]  # noqa: SIM118
    assert not handlers

    assert tree.get("lang") == "en" and len(list(tree.iter("main"))) == 1
    labels = [image.get("alt") for image in images]
    assert len(labels) == len(set(labels)) == 3 and all(labels)
    links = [link for link in tree.iter("a") if link.get("href", "").startswith("#")]
    assert ["".join(link.itertext()) for link in links][1:] == ["".join(head.itertext()) for head in tree.iter("h2")]
