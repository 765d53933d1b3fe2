"""index.html: the report's Markdown as one file that opens without a network."""

import base64
import hashlib
import re
from collections.abc import Mapping
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup

from stages.reporting.markdown import environment
from stages.reporting.style import css_width
from stages.system.files import new_folder, write_text

FOLDER = Path(__file__).parent / "web"
REPORT, PAGE = "report.md", "index.html"  # of a report: they lie side by side
FIGURE = "figure"  # type of the tokens that stand for a picture with its caption


class PageSection(NamedTuple):
    """A stretch of the page below a heading of the second level; `title` is plain text."""

    identifier: str
    title: str
    html: Markup


class Page(NamedTuple):
    """A page: the text of its first heading, the part before the sections, and the sections."""

    title: str
    opening: Markup
    sections: list[PageSection]


def convert(report: str, pictures: Mapping[str, str]) -> Page:
    """Return CommonMark with tables, which begins with a heading, as a page; raw HTML in it is shown as text.

    pictures: SVG by name; the text shows each in a paragraph of its own, its caption in italics in the next one.
    """
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    renderer, options = RendererHTML(), markdown.options
    rules: dict[str, Any] = renderer.rules
    rules["table_open"] = lambda *_: '<div class="scroll"><table>\n'
    rules["table_close"] = lambda *_: "</table></div>\n"

    def plain(token: Token) -> str:
        return renderer.renderInlineAsText(token.children or [], options, {})

    def drawn(tokens: list[Token], index: int, *_: object) -> str:
        """Return a figure: its picture as the data of an image, as wide as it was drawn, and its caption."""
        picture, caption = tokens[index].meta["picture"], tokens[index].meta["caption"]
        svg = pictures[picture.attrs["src"]]
        data = base64.b64encode(svg.encode("utf-8")).decode("ascii")
        look = f'alt="{escape(plain(picture))}" style="{css_width(ElementTree.fromstring(svg))}"'
        image = f'<div class="scroll"><img src="data:image/svg+xml;base64,{data}" {look}></div>'
        below = renderer.renderInline(caption, options, {})
        return f"<figure>{image}<figcaption>{below}</figcaption></figure>\n"

    rules[FIGURE] = drawn
    tokens = markdown.parse(report)
    adapt(tokens)
    join_figures(tokens)
    starts = [index for index, token in enumerate(tokens) if (token.type, token.tag) == ("heading_open", "h2")]
    bounds = [*starts, len(tokens)]
    sections = []
    for start, end in pairwise(bounds):
        title = plain(tokens[start + 1])
        identifier = re.sub(r"[\W_]+", "-", title.lower()).strip("-")  # as links in the text name it
        tokens[start].attrSet("id", identifier)
        sections.append(PageSection(identifier, title, Markup(renderer.render(tokens[start:end], options, {}))))
    return Page(plain(tokens[1]), Markup(renderer.render(tokens[: bounds[0]], options, {})), sections)


def adapt(tokens: list[Token]) -> None:
    """Give columns of numbers a class and rows a heading, link pages, and keep a number and its % on one line."""
    for number, token in enumerate(tokens):
        adapt(token.children or [])
        if token.type in ("th_open", "td_open") and token.attrs.pop("style", "") == "text-align:right":
            token.attrSet("class", "number")
        if token.type == "th_open":
            token.attrSet("scope", "col")
        if token.type == "td_open" and tokens[number - 1].type == "tr_open":  # its content and its end follow
            token.tag = tokens[number + 2].tag = "th"
            token.attrSet("scope", "row")
        if token.type == "link_open" and ":" not in (address := str(token.attrs["href"])) and address.endswith(REPORT):
            token.attrSet("href", address.removesuffix(REPORT) + PAGE)
        if token.type == "text":
            token.content = re.sub(r"(?<=\d) (?=%)", "\N{NO-BREAK SPACE}", token.content)


def join_figures(tokens: list[Token]) -> None:
    """Put one token in the place of each paragraph that is a picture and the one below it, in italics, its caption."""
    for index in reversed(range(len(tokens))):
        children = tokens[index].children
        if children and children[0].type == "image":
            # between them: the end of a paragraph, the beginning of the next
            caption = tokens[index + 3].children or []
            meta = {"picture": children[0], "caption": caption[1:-1]}
            tokens[index - 1 : index + 5] = [Token(FIGURE, "figure", 0, meta=meta, block=True)]


def write_page(target: Path, report: str, files: Mapping[str, str]) -> None:
    """Write the Markdown `report`, index.html and the `files` (text by name) to the folder `target`.

    Among the files are the pictures that the report shows, as SVG.
    """
    template = environment([FOLDER], autoescape=True).get_template("index.html.jinja")
    parts = style_and_script(FOLDER / "index.css", (FOLDER / "index.js").read_text("utf-8"))
    page = template.render(page=convert(report, files), **parts)
    with new_folder(target) as folder:
        for name, content in {REPORT: report, PAGE: page, **files}.items():
            write_text(folder / name, content)


def style_and_script(css: Path, script: str) -> dict[str, Markup | str]:
    """Return a page's `style`, the rules that all pages share and its own `css`, its `script` and the `digest` of this.

    The digest allows a browser to run this script alone in the page.
    """
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    style = (FOLDER / "shared.css").read_text("utf-8") + "\n" + css.read_text("utf-8")
    return {"style": Markup(style), "script": Markup(script), "digest": base64.b64encode(digest).decode()}
