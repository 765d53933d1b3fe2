"""The report's Markdown as the parts of an HTML page, with its figures inlined."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup

from stages.reporting.html.inlining import inlined
from stages.system.errors import StudyError

LONG = 20  # characters; a cell with as many, of a column of words, is not squeezed to one word a line


@dataclass
class Section:
    """A stretch of the page from one heading of the second level to the next; `title` is plain text."""

    identifier: str
    title: str
    html: Markup = field(default_factory=Markup)
    below: list[tuple[str, str]] = field(default_factory=list)  # identifiers and titles of the third level


@dataclass(frozen=True)
class Converted:
    """A page: its first heading's text, what comes before the sections, and these."""

    title: str
    opening: Markup
    sections: list[Section]


def convert(report: str, pictures: Mapping[str, str]) -> Converted:
    """Return CommonMark with tables as the parts of a page; raw HTML in it is shown as text.

    pictures: SVG by the names that the text shows them by. Raises StudyError where it shows another one.
    """
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    renderer = Renderer(pictures)
    tokens = markdown.parse(report)
    title, opening, sections = "", list[Token](), list[tuple[Section, list[Token]]]()
    taken: set[str] = set()
    captions: set[int] = set()  # tokens that stand in a figure already
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            text = renderer.renderInlineAsText(tokens[at + 1].children, markdown.options, {})
            identifier = _identifier(text, taken)
            token.attrSet("id", identifier)
            if token.tag == "h1":
                title = title or text
            elif token.tag == "h2":
                sections.append((Section(identifier, text), []))
            elif token.tag == "h3" and sections:
                sections[-1][0].below.append((identifier, text))
        elif token.type == "paragraph_open" and _only_images(tokens[at + 1]):
            token.hidden = tokens[at + 2].hidden = True  # a figure may not stand in a paragraph
            captions |= _captioned(tokens, at)
        if at not in captions:
            (sections[-1][1] if sections else opening).append(token)
    start = Markup(renderer.render(opening, markdown.options, {}))
    for section, inside in sections:
        section.html = Markup(renderer.render(inside, markdown.options, {}))
    return Converted(title, start, [section for section, _ in sections])


class Renderer(RendererHTML):
    """The library's renderer, with figures in place of images and tables that scroll by themselves.

    A public method renders the tokens of the type it is named after.
    """

    def __init__(self, pictures: Mapping[str, str]) -> None:
        super().__init__()
        self._pictures = pictures
        self._count = 0

    def image(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        """A figure: the image's alternative text is its label, the paragraph in italics below it its caption."""
        token = tokens[idx]
        name = str(token.attrGet("src"))
        if name not in self._pictures:
            raise StudyError(f"report.md: shows {name}, which is no picture of this report")
        self._count += 1
        label = " ".join(self.renderInlineAsText(token.children, options, env).split())
        figure = inlined(self._pictures[name], f"f{self._count}--", label)
        if not token.meta.get("alone"):
            return Markup('<span class="scroll">{}</span>').format(figure)
        said = Markup(self.renderInline(token.meta.get("caption", []), options, env))
        caption = Markup("<figcaption>{}</figcaption>").format(said) if said else ""
        return Markup('<figure><div class="scroll">{}</div>{}</figure>\n').format(figure, caption)

    def link_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        """A link; to another report's page of this kind instead of to its Markdown, which browsers show as it is."""
        target = str(tokens[idx].attrGet("href"))
        if target.startswith("../") and target.endswith("/report.md"):
            tokens[idx].attrSet("href", target.removesuffix("report.md") + "index.html")
        return self.renderToken(tokens, idx, options, env)

    def text(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        """Plain text, its numbers not parted from their percent signs at a line's end."""
        return escapeHtml(re.sub(r"(?<=\d) (?=%)", "\N{NO-BREAK SPACE}", tokens[idx].content))

    def table_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        """A table in a box of its own."""
        return '<div class="scroll"><table>\n'

    def table_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        """The end of the table and its box."""
        return "</table></div>\n"

    def th_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        """A column's header."""
        return f'<th scope="col"{_kind(tokens, idx)}>'

    def td_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        """A cell."""
        return f"<td{_kind(tokens, idx)}>"


def _kind(tokens: Sequence[Token], at: int) -> str:
    """A cell's class; the header of a column of numbers may break into as many lines as it has words."""
    if "right" in str(tokens[at].attrGet("style")):
        return ' class="number"'
    return ' class="long"' if len(tokens[at + 1].content) >= LONG else ""


def _only_images(paragraph: Token) -> bool:
    """Whether a paragraph's content is nothing but images, which then are told so."""
    children = paragraph.children or []
    alone = bool(children) and all(each.type in ("image", "softbreak") for each in children)
    for each in children if alone else ():
        each.meta["alone"] = True
    return alone


def _captioned(tokens: Sequence[Token], at: int) -> set[int]:
    """Make the paragraph below that which opens at `at`, of images, their caption if all of it is in italics.

    Returns the numbers of the caption's tokens, or none.
    """
    below = range(at + 3, at + 6)
    if below.stop > len(tokens) or tokens[below[0]].type != "paragraph_open":
        return set()
    inside = tokens[below[1]].children or []
    marks = [number for number, each in enumerate(inside) if each.type in ("em_open", "em_close") and not each.level]
    if marks != [0, len(inside) - 1]:
        return set()
    (tokens[at + 1].children or [])[-1].meta["caption"] = inside[1:-1]
    return set(below)


def _identifier(text: str, taken: set[str]) -> str:
    """A heading's anchor. The page's other identifiers have two hyphens in a row and cannot meet with it."""
    stem = re.sub(r"[\W_]+", "-", text.lower()).strip("-") or "section"
    name, number = stem, 1
    while name in taken:
        number += 1
        name = f"{stem}-{number}"
    taken.add(name)
    return name
