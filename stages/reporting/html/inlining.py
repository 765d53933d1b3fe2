"""Figures as part of an HTML page: one SVG element each, whose identifiers and colours fit among the others."""

import re
from dataclasses import dataclass
from xml.etree import ElementTree

from markupsafe import Markup

from stages.reporting.html.theme import HEXADECIMAL, dark

HREF = "{http://www.w3.org/1999/xlink}href"
DROPPED = ("metadata", "style", "title")  # matplotlib's style rule would hold for the whole page: it is in index.css
PIXELS_A_POINT = 4 / 3
LENGTH = re.compile(r"([\d.]+)(pt|px)?")


@dataclass(frozen=True)
class Inlined:
    """An SVG element for an HTML page, and the colours (`#rrggbb`) that it takes from variables `--c-rrggbb`."""

    element: Markup
    colours: frozenset[str]


def inlined(picture: str, prefix: str, label: str) -> Inlined:
    """Return the SVG file `picture` as an element that screen readers call `label`.

    Identifiers begin with `prefix`; those that nothing refers to are left out. Colours become variables of the page
    where all of them have a counterpart in the dark; else the figure keeps its own on white: in a heat map light and
    dark mean something. Raises xml.etree.ElementTree.ParseError where it is no XML.
    """
    root = ElementTree.fromstring(picture)
    for parent in list(root.iter()):
        for child in [each for each in parent if _local(each.tag) in DROPPED]:
            parent.remove(child)
    used = set(HEXADECIMAL.findall(" ".join(_painted(root))))
    follows = all(dark(colour) for colour in used) and not any(_local(each.tag) == "image" for each in root.iter())
    referred = set(re.findall(r"url\(#([^)]+)\)", " ".join(_attributes(root))))
    referred |= {link[1:] for each in root.iter() for link in (each.get(HREF), each.get("href")) if link}
    for each in root.iter():
        each.tag = _local(each.tag)
        each.tail = None
        if not (each.text or "").strip():
            each.text = None
        each.attrib = {
            _local(name): _rewritten(name, " ".join(value.split()), prefix, follows)
            for name, value in each.attrib.items()
            if name != "id" or value in referred
        }
    root.attrib = {
        "viewBox": root.attrib["viewBox"],
        "class": "follows" if follows else "white",
        "style": f"--width: {_pixels(root.attrib['width']):.0f}px",
        **({"role": "img", "aria-label": label} if label else {"aria-hidden": "true"}),
    }
    black = {"#000000"}  # what has no colour of its own, such as text
    colours = {colour.lower() for colour in used} | black if follows else set()
    return Inlined(Markup(ElementTree.tostring(root, encoding="unicode")), frozenset(colours))


def _rewritten(name: str, value: str, prefix: str, follows: bool) -> str:
    if name == "id":
        return prefix + value
    if name in (HREF, "href"):
        return f"#{prefix}{value[1:]}" if value.startswith("#") else value
    value = re.sub(r"url\(#", f"url(#{prefix}", value)
    if follows and name in ("style", "fill", "stroke"):
        value = HEXADECIMAL.sub(lambda match: f"var(--c-{match[0][1:].lower()})", value)
    return value


def _attributes(root: ElementTree.Element) -> list[str]:
    return [value for each in root.iter() for value in each.attrib.values()]


def _painted(root: ElementTree.Element) -> list[str]:
    return [value for each in root.iter() for name, value in each.items() if name in ("style", "fill", "stroke")]


def _local(name: str) -> str:
    return name.rpartition("}")[2]


def _pixels(length: str) -> float:
    match = LENGTH.fullmatch(length)
    if not match:
        raise ValueError(f"a figure's width is {length}: neither points nor pixels")
    return float(match[1]) * (PIXELS_A_POINT if match[2] == "pt" else 1)
