"""index.html: the report's Markdown as one file that opens without a network."""

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from markupsafe import Markup

from stages.reporting.markdown import environment
from stages.system.files import new_folder, write_text

FOLDER = Path(__file__).parent / "web"
SHARED = FOLDER / "shared.css"
REPORT, PAGE = "report.md", "index.html"  # of a report: they lie side by side
PIXELS_A_POINT = 4 / 3
FIGURE = "figure"  # type of the tokens that stand for a picture with its caption


@dataclass(frozen=True)
class PageSection:
    """A stretch of the page below a heading of the second level; `title` is plain text."""

    identifier: str
    title: str
    html: Markup


@dataclass(frozen=True)
class Converted:
    """A page: the text of its first heading, the part before the sections, and the sections."""

    title: str
    opening: Markup
    sections: list[PageSection]


def convert(report: str, pictures: Mapping[str, str]) -> Converted:
    """Return CommonMark with tables as the parts of a page; raw HTML in it is shown as text.

    pictures: SVG by name; the text shows each in a paragraph of its own, its caption in italics in the next one.
    """
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = [*with_figures(markdown.parse(report))]
    for token in tokens:
        adapt(token)
    name_rows(tokens)
    renderer = RendererHTML()
    rules: dict[str, Any] = renderer.rules
    rules[FIGURE] = lambda tokens, index, options, _: drawn(tokens[index], pictures, options)
    rules["table_open"] = lambda *_: '<div class="scroll"><table>\n'
    rules["table_close"] = lambda *_: "</table></div>\n"

    starts = [index for index, token in enumerate(tokens) if (token.type, token.tag) == ("heading_open", "h2")]
    ends = [*starts, len(tokens)][1:]
    before = Counter[str]()
    sections = []
    for start, end in zip(starts, ends, strict=True):
        title = plain(tokens[start + 1])
        words = re.sub(r"[\W_]+", "-", title.lower()).strip("-")
        identifier = f"{words}-{before[words]}" if before[words] or not words else words  # as links in the text name it
        before[words] += 1
        tokens[start].attrSet("id", identifier)
        html = renderer.render(tokens[start:end], markdown.options, {})
        sections.append(PageSection(identifier, title, Markup(html)))
    first = next((index for index, token in enumerate(tokens) if token.tag == "h1"), None)
    opening = Markup(renderer.render(tokens[: starts[0] if starts else None], markdown.options, {}))
    return Converted("" if first is None else plain(tokens[first + 1]), opening, sections)


def with_figures(tokens: Sequence[Token]) -> Iterator[Token]:
    """Yield tokens, but one for each paragraph that is a picture, with the paragraph in italics below it as caption."""
    index = 0
    while index < len(tokens):
        picture = alone(tokens, index, "image")
        if picture is None:
            yield tokens[index]
            index += 1
            continue
        index += 3  # the paragraph's opening, content and end
        caption = alone(tokens, index, "em_open")
        if caption is not None:
            index += 3
        meta = {"caption": caption[1:-1] if caption else [], "picture": picture[0]}
        yield Token(FIGURE, "figure", 0, meta=meta, block=True)


def alone(tokens: Sequence[Token], index: int, kind: str) -> list[Token] | None:
    """Return the content of a paragraph that is one picture, or one stretch in italics; None of any other token."""
    if index + 2 >= len(tokens) or tokens[index].type != "paragraph_open":
        return None
    content = tokens[index + 1].children or []
    whole = kind == "image" and len(content) == 1
    if kind == "em_open" and content and content[-1].type == "em_close":
        whole = sum(token.type == "em_open" for token in content) == 1
    return content if whole and content[0].type == kind else None


def adapt(token: Token) -> None:
    """Give columns of numbers a class, links the page beside a report, and a number and its % one line."""
    if token.type in ("th_open", "td_open") and token.attrs.pop("style", "") == "text-align:right":
        token.attrSet("class", "number")
    if token.type == "th_open":
        token.attrSet("scope", "col")
    if token.type == "link_open" and ":" not in (address := str(token.attrs["href"])) and address.endswith(REPORT):
        token.attrSet("href", address.removesuffix(REPORT) + PAGE)
    if token.type == "text":
        token.content = re.sub(r"(?<=\d) (?=%)", "\N{NO-BREAK SPACE}", token.content)
    for child in [*(token.children or []), *token.meta.get("caption", [])]:
        adapt(child)


def name_rows(tokens: Sequence[Token]) -> None:
    """Make the first cell of each row of a table its heading."""
    for number, token in enumerate(tokens):
        if token.type == "tr_open" and tokens[number + 1].type == "td_open":
            end = next(cell for cell in tokens[number:] if cell.type == "td_close")
            tokens[number + 1].tag = end.tag = "th"
            tokens[number + 1].attrSet("scope", "row")


def drawn(figure: Token, pictures: Mapping[str, str], options: OptionsDict) -> str:
    """Return a figure: its picture as the data of an image, as wide as it was drawn, and its caption."""
    picture = figure.meta["picture"]
    svg = pictures[str(picture.attrs["src"])]
    width = PIXELS_A_POINT * float(ElementTree.fromstring(svg).attrib["width"].removesuffix("pt"))
    data = base64.b64encode(svg.encode("utf-8")).decode("ascii")
    look = f'alt="{escape(plain(picture))}" style="--width: {width:.0f}px"'
    image = f'<img src="data:image/svg+xml;base64,{data}" {look}>'
    caption = RendererHTML().renderInline(figure.meta["caption"], options, {})
    below = f"<figcaption>{caption}</figcaption>" if caption else ""
    return f'<figure><div class="scroll">{image}</div>{below}</figure>\n'


def plain(token: Token) -> str:
    """Return the words of an inline token, or of a picture's label."""
    words = {"text": lambda part: part.content, "code_inline": lambda part: part.content, "softbreak": lambda _: " "}
    return "".join(words[part.type](part) for part in token.children or [] if part.type in words)


def write_page(target: Path, report: str, files: Mapping[str, str]) -> None:
    """Write the Markdown `report`, index.html and the `files` (text by name) to the folder `target`.

    Among the files are the pictures that the report shows, as SVG.
    """
    template = environment([FOLDER], autoescape=True).get_template("index.html.jinja")
    script = only_script((FOLDER / "index.js").read_text("utf-8"))
    page = template.render(page=convert(report, files), style=style(FOLDER / "index.css"), **script)
    with new_folder(target) as folder:
        for name, content in {REPORT: report, PAGE: page, **files}.items():
            write_text(folder / name, content)


def style(own: Path) -> Markup:
    """Return the style sheet of a page: the rules that all pages share, then the file `own`."""
    return Markup(SHARED.read_text("utf-8") + "\n" + own.read_text("utf-8"))


def only_script(script: str) -> dict[str, Markup | str]:
    """Return `script` and its `digest`, which allows a browser to run this script alone in the page."""
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return {"script": Markup(script), "digest": base64.b64encode(digest).decode()}
