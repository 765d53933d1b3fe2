"""index.html: the report's Markdown as one file that opens without a network."""

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from html import unescape
from itertools import count
from pathlib import Path
from xml.etree import ElementTree

from markdown_it import MarkdownIt
from markupsafe import Markup

from stages.reporting.markdown import environment
from stages.system.files import new_folder, write_text

# A paragraph with a picture and, below it, one in italics: the caption
FIGURE = re.compile(r'<p><img src="([^"]*)" alt="([^"]*)" /></p>(?:\n<p><em>((?:(?!</?em>).)*)</em></p>)?', re.DOTALL)
SECTION = re.compile(r"<h2>(.*?)</h2>\n")
ROW = re.compile(r"<tr>\n<td([^>]*)>(.*?)</td>", re.DOTALL)  # the first cell is the row's heading
OTHER_REPORT = re.compile(r'(<a href="[^":]*)report\.md"')  # index.html lies beside each report.md
OF_NUMBERS = re.compile(r'<(t[hd]) style="text-align:right">')
IDENTIFIER = re.compile(r' id="| href="#|url\(#')  # precedes an identifier in SVG

DROPPED = ("metadata", "style", "title")  # matplotlib's style rule would hold for the whole page: it is in index.css
PIXELS_A_POINT = 4 / 3


@dataclass(frozen=True)
class Section:
    """A stretch of the page below a heading of the second level; `title` is plain text."""

    identifier: str
    title: str
    html: Markup


@dataclass(frozen=True)
class Converted:
    """A page: the text of its first heading, the part before the sections, and the sections."""

    title: str
    opening: Markup
    sections: list[Section]


def convert(report: str, pictures: Mapping[str, str]) -> Converted:
    """Return CommonMark with tables as the parts of a page; raw HTML in it is shown as text.

    pictures: SVG by name; the text shows each in a paragraph of its own.
    """
    numbers = count(1)

    def figure(match: re.Match[str]) -> str:
        name, label, caption = match.groups()
        element = inlined(pictures[name], f"f{next(numbers)}--", unescape(label))
        below = f"<figcaption>{caption}</figcaption>" if caption else ""
        return f'<figure><div class="scroll">{element}</div>{below}</figure>'

    unparted = re.sub(r"(?<=\d) (?=%)", "\N{NO-BREAK SPACE}", report)
    html = MarkdownIt("commonmark", {"html": False}).enable("table").render(unparted)
    html = re.sub(r"<th(?=[ >])", '<th scope="col"', OF_NUMBERS.sub(r'<\1 class="number">', html))
    html = ROW.sub(r'<tr>\n<th scope="row"\1>\2</th>', html)
    html = OTHER_REPORT.sub(r'\1index.html"', html)
    html = html.replace("<table>", '<div class="scroll"><table>').replace("</table>", "</table></div>")
    html = FIGURE.sub(figure, html)
    opening, *rest = SECTION.split(html)
    first = re.search(r"<h1>(.*?)</h1>", opening)
    sections = []
    before = Counter[str]()
    for title, content in zip(rest[::2], rest[1::2], strict=True):
        words = re.sub(r"[\W_]+", "-", _plain(title).lower()).strip("-")
        identifier = f"{words}-{before[words]}" if before[words] or not words else words  # as links in the text name it
        before[words] += 1
        heading = Markup(f'<h2 id="{identifier}">{title}</h2>\n')
        sections.append(Section(identifier, _plain(title), heading + Markup(content)))
    return Converted(_plain(first[1]) if first else "", Markup(opening), sections)


def inlined(picture: str, prefix: str, label: str) -> Markup:
    """Return matplotlib's SVG file `picture` as an element that screen readers call `label`.

    Its identifiers begin with `prefix`, so that they fit among those of other pictures.
    """
    root = ElementTree.fromstring(picture)
    for parent in list(root.iter()):
        for child in [child for child in parent if _local(child.tag) in DROPPED]:
            parent.remove(child)
    for element in root.iter():
        element.tag = _local(element.tag)
        element.attrib = {_local(name): " ".join(value.split()) for name, value in element.attrib.items()}
    width = PIXELS_A_POINT * float(root.attrib["width"].removesuffix("pt"))
    root.attrib = {"viewBox": root.attrib["viewBox"], "style": f"--width: {width:.0f}px"}
    root.attrib |= {"role": "img", "aria-label": label}
    return Markup(IDENTIFIER.sub(rf"\g<0>{prefix}", ElementTree.tostring(root, encoding="unicode")))


def _plain(html: str) -> str:
    return unescape(re.sub("<[^>]*>", "", html))


def _local(name: str) -> str:
    return name.rpartition("}")[2]


FOLDER = Path(__file__).parent / "web"
SHARED = FOLDER / "shared.css"


def write_page(target: Path, report: str, files: Mapping[str, str]) -> None:
    """Write the Markdown `report`, index.html and the `files` (text by name) to the folder `target`.

    Among the files are the pictures that the report shows, as SVG.
    """
    template = environment([FOLDER], autoescape=True).get_template("index.html.jinja")
    script = only_script((FOLDER / "index.js").read_text("utf-8"))
    page = template.render(page=convert(report, files), style=style(FOLDER / "index.css"), **script)
    with new_folder(target) as folder:
        for name, content in {"report.md": report, "index.html": page, **files}.items():
            write_text(folder / name, content)


def style(own: Path) -> Markup:
    """Return the style sheet of a page: the rules that all pages share, then the file `own`."""
    return Markup(SHARED.read_text("utf-8") + "\n" + own.read_text("utf-8"))


def only_script(script: str) -> dict[str, Markup | str]:
    """Return `script` and its `digest`, which allows a browser to run this script alone in the page."""
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return {"script": Markup(script), "digest": base64.b64encode(digest).decode()}
