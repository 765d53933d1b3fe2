"""The page as a parser finds it: whole, alone and harmless."""

from xml.etree.ElementTree import Element

import html5lib
import pytest

from stages.reporting.folder import write_report
from stages.reporting.markdown import Markdown, PagePart, table
from tests.support.example import SHOWN, probe_tables, write_baseline, write_variant
from tests.support.tiny import ROOT

HOSTILE = "</script><!--<script>alert(1)</script><img src=x onerror=alert(1)> \"'&amp; ` \u202eסבא e\u0301 \u0085{}"


@pytest.fixture(scope="module", name="page")
def page_fixture(tmp_path_factory: pytest.TempPathFactory) -> str:
    """index.html of a study all of whose names are hostile."""
    base = tmp_path_factory.mktemp("study")
    write_baseline(base / "evaluations", place="</script><b>London")
    variant, half = "<b>rope'\"", [1] * 5 + [0] * 5
    write_variant(base / "evaluations", variant, ([0] * 10,), (half,), person=HOSTILE, probes=probe_tables(facts=0))
    part = PagePart(Markdown(f"## A part\n\n{table(['a'], [[HOSTILE]])}\n"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("stages.reporting.folder.errors_part", lambda *_: part)
        made = base / "evaluations"
        write_report(made / "baseline", made, base / "report", "quick", variant, [variant], settings=SHOWN)
    return (base / "report" / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("report", sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("reports/**/index.html")))
def test_links_within_a_report_reach_what_they_name(report: str) -> None:
    elements = [*parsed((ROOT / report).read_text(encoding="utf-8")).iter()]
    links = {element.get("href", "") for element in elements if element.tag == "a"}
    assert {link[1:] for link in links if link.startswith("#")} <= {element.get("id") for element in elements}


def parsed(page: str) -> Element:
    """The document, or an error at the first place where it is not well-formed."""
    return html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(page)


def test_hostile_names_are_text_and_nothing_else_and_nothing_is_loaded(page: str) -> None:
    tree = parsed(page)
    names = [element.get("id") for element in tree.iter() if element.get("id")]
    assert len(names) == len(set(names)) and "default-src 'none'" in page
    assert [script.get("type") for script in tree.iter("script")] == [None]
    tags = {element.tag for element in tree.iter()}
    assert all(image.get("src", "").startswith("data:image/svg+xml;base64,") for image in tree.iter("img"))
    assert not tags & {"b", "link", "iframe", "object", "embed", "base", "source"}
    handlers = [name for element in tree.iter() for name in element.keys() if str(name).startswith("on")]  # noqa: SIM118
    assert not handlers


def test_structure_serves_those_who_do_not_see_it(page: str) -> None:
    tree = parsed(page)
    assert tree.get("lang") == "en" and len(list(tree.iter("main"))) == 1
    labels = [image.get("alt") for image in tree.iter("img")]
    assert len(labels) == len(set(labels)) == 2 and all(labels)
    titles = ["".join(head.itertext()) for head in tree.iter("h2")]
    assert "A part" in titles
    links = [link for link in tree.iter("a") if link.get("href", "").startswith("#")]
    assert ["".join(link.itertext()) for link in links][1:] == titles
