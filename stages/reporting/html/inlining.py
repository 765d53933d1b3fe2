"""Figures as part of an HTML page: one SVG element each, whose identifiers fit among the others."""

import re
from xml.etree import ElementTree

from markupsafe import Markup

DROPPED = ("metadata", "style", "title")  # matplotlib's style rule would hold for the whole page: it is in index.css
PIXELS_A_POINT = 4 / 3


def inlined(picture: str, prefix: str, label: str) -> Markup:
    """Return matplotlib's SVG file `picture` as an element that screen readers call `label`.

    Identifiers begin with `prefix`. Raises xml.etree.ElementTree.ParseError where it is no XML.
    """
    root = ElementTree.fromstring(picture)
    for parent in list(root.iter()):
        for child in [each for each in parent if _local(each.tag) in DROPPED]:
            parent.remove(child)
    for each in root.iter():
        each.tag = _local(each.tag)
        each.attrib = {
            _local(name): _prefixed(_local(name), " ".join(value.split()), prefix)
            for name, value in each.attrib.items()
        }
    width = PIXELS_A_POINT * float(root.attrib["width"].removesuffix("pt"))
    root.attrib = {"viewBox": root.attrib["viewBox"], "style": f"--width: {width:.0f}px"}
    root.attrib |= {"role": "img", "aria-label": label}
    return Markup(ElementTree.tostring(root, encoding="unicode"))


def _prefixed(name: str, value: str, prefix: str) -> str:
    if name == "id":
        return prefix + value
    return re.sub(r"^#" if name == "href" else r"(?<=url\()#", f"#{prefix}", value)


def _local(name: str) -> str:
    return name.rpartition("}")[2]
