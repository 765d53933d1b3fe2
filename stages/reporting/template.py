"""Markdown templates: the page's, beside this file, and those of its sections."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from stages.reporting.markdown import Markdown, code, escape

FOLDER = Path(__file__).parent
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Part:
    """A section of a page, and the files beside it, by name."""

    text: Markdown
    files: dict[str, str] = field(default_factory=dict)


def fill(template: str, **values: object) -> Markdown:
    """Return the template's text with the values set in, each escaped unless it is Markdown already."""
    environment = Environment(
        loader=FileSystemLoader([FOLDER, FOLDER / "sections", FOLDER / "method"]),
        undefined=StrictUndefined,
        finalize=escape,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"code": code, "power": power}
    environment.globals["figure"] = figure
    return Markdown(environment.get_template(template).render(**values))


def figure(name: str, label: str, caller: Callable[[], str]) -> Markdown:
    """Return the picture `name`, labelled for those who do not see it, above its caption: what a `call` holds."""
    return Markdown(f"![{escape(label)}]({name})\n\n*{' '.join(caller().split())}*\n")


def power(value: float) -> str:
    """A small number in words of ten: 3.1e-08 is 3 · 10⁻⁸."""
    mantissa, exponent = f"{value:.0e}".split("e")
    return f"{mantissa} · 10{str(int(exponent)).translate(SUPERSCRIPTS)}"
