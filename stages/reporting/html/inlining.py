"""Figures as part of an HTML page: one SVG element each, whose identifiers fit among the others."""

import re
from xml.etree import ElementTree

from markupsafe import Markup

HREF = "{http://www.w3.org/1999/xlink}href"
DROPPED = ("metadata", "style", "title")  # matplotlib's style rule would hold for the whole page: it is in index.css
PIXELS_A_POINT = 4 / 3


def inlined(picture: str, prefix: str, label: str) -> Markup:
    """Return matplotlib's SVG file `picture` as an element that screen readers call `label`.

    Identifiers begin with `prefix`; those that nothing refers to are left out. Raises
    xml.etree.ElementTree.ParseError where it is no XML.
    """
    root = ElementTree.fromstring(picture)
    for parent in list(root.iter()):
        for child in [each for each in parent if _local(each.tag) in DROPPED]:
            parent.remove(child)
    values = " ".join(value for each in root.iter() for value in each.attrib.values())
    referred = set(re.findall(r"url\(#([^)]+)\)", values))
    referred |= {link[1:] for each in root.iter() for link in (each.get(HREF), each.get("href")) if link}
    for each in root.iter():
        each.tag = _local(each.tag)
        each.tail = None
        if not (each.text or "").strip():
            each.text = None
        each.attrib = {
            _local(name): _rewritten(name, " ".join(value.split()), prefix)
            for name, value in each.attrib.items()
            if name != "id" or value in referred
        }
    width = PIXELS_A_POINT * float(root.attrib["width"].removesuffix("pt"))
    root.attrib = {
        "viewBox": root.attrib["viewBox"],
        "style": f"--width: {width:.0f}px",
        **({"role": "img", "aria-label": label} if label else {"aria-hidden": "true"}),
    }
    return Markup(ElementTree.tostring(root, encoding="unicode"))


def _rewritten(name: str, value: str, prefix: str) -> str:
    if name == "id":
        return prefix + value
    if name in (HREF, "href"):
        return f"#{prefix}{value[1:]}" if value.startswith("#") else value
    return re.sub(r"url\(#", f"url(#{prefix}", value)


def _local(name: str) -> str:
    return name.rpartition("}")[2]
