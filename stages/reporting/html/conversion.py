"""The report's Markdown as the parts of an HTML page, with its figures inlined."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import unescape
from itertools import count

from markdown_it import MarkdownIt
from markupsafe import Markup

from stages.reporting.html.inlining import inlined
from stages.system.errors import StudyError

# A paragraph of one picture and, below it, one that is all in italics: its caption
FIGURE = re.compile(r'<p><img src="([^"]*)" alt="([^"]*)" /></p>(?:\n<p><em>((?:(?!</?em>).)*)</em></p>)?', re.DOTALL)
SECTION = re.compile(r"<h2>(.*?)</h2>\n")
OF_NUMBERS = re.compile(r'<(t[hd]) style="text-align:right">')
OTHER_REPORT = re.compile(r'(?<=href="\.\./)([^"]*)report\.md(?=")')


@dataclass(frozen=True)
class Section:
    """A stretch of the page below a heading of the second level; `title` is plain text."""

    identifier: str
    title: str
    html: Markup


@dataclass(frozen=True)
class Converted:
    """A page: its first heading's text, what comes before the sections, and these."""

    title: str
    opening: Markup
    sections: list[Section]


def convert(report: str, pictures: Mapping[str, str]) -> Converted:
    """Return CommonMark with tables as the parts of a page; raw HTML in it is shown as text.

    A link to another report's Markdown leads to its page. pictures: SVG by the names that the text shows them by, each
    in a paragraph of its own. Raises StudyError where it shows another one, or one within a text.
    """
    numbers = count(1)

    def figure(found: re.Match[str]) -> str:
        name, label, caption = found.groups()
        if name not in pictures:
            raise StudyError(f"report.md: shows {name}, which is no picture of this report")
        element = inlined(pictures[name], f"f{next(numbers)}--", unescape(label))
        said = f"<figcaption>{caption}</figcaption>" if caption else ""
        return f'<figure><div class="scroll">{element}</div>{said}</figure>'

    unparted = re.sub(r"(?<=\d) (?=%)", "\N{NO-BREAK SPACE}", report)
    html = MarkdownIt("commonmark", {"html": False}).enable("table").render(unparted)
    html = OF_NUMBERS.sub(r'<\1 class="number">', html).replace("<th>", '<th scope="col">')
    html = html.replace('<th class="number">', '<th scope="col" class="number">')
    html = html.replace("<table>", '<div class="scroll"><table>').replace("</table>", "</table></div>")
    html = FIGURE.sub(figure, OTHER_REPORT.sub(r"\1index.html", html))
    if "<img" in html:
        raise StudyError("report.md: shows a picture within a text; pictures stand in paragraphs of their own")
    opening, *rest = SECTION.split(html)
    first = re.search(r"<h1>(.*?)</h1>", opening)
    sections = []
    for number, (title, content) in enumerate(zip(rest[::2], rest[1::2], strict=True), 1):
        words = re.sub(r"[\W_]+", "-", _plain(title).lower()).strip("-")
        identifier = f"{words}-{number}"
        heading = Markup(f'<h2 id="{identifier}">{title}</h2>\n')
        sections.append(Section(identifier, _plain(title), heading + Markup(content)))
    return Converted(_plain(first[1]) if first else "", Markup(opening), sections)


def _plain(html: str) -> str:
    return unescape(re.sub("<[^>]*>", "", html))
