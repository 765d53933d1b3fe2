"""Markdown: templates, which lie beside the code that fills them, and text, escaped once where it enters the page."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from stages.reporting.evaluations import Run
from stages.reporting.metrics import Result
from stages.reporting.statistics import LEAST_SEEDS, LEVEL, shown_p
from stages.system.errors import UNSAFE

# What can begin markup within a line. An underscore inside a word is no emphasis and stays readable in the
# source; `://` and `www.` would become links.
SPECIAL = re.compile(r"[\\`*|~$\[\]]|(?<![^\W_])_|_(?![^\W_])|:(?=//)|(?<=www)\.", re.IGNORECASE)
SPACES = re.compile(r"[ \t-\r]+")  # those of other scripts stay
SHARED = Path(__file__).parent / "sections"  # has the templates that several pages include


class Markdown(str):
    """Text that is Markdown already and must not be escaped again."""


def escape(text: object) -> Markdown:
    """Return `text` so that Markdown and HTML show it as it is, on one line.

    Spaces, tabs and line ends become single spaces; what a terminal would obey becomes U+FFFD.
    """
    if isinstance(text, Markdown):
        return text
    line = UNSAFE.sub("\ufffd", SPACES.sub(" ", str(text)).strip(" "))
    entities = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return Markdown(SPECIAL.sub(lambda match: f"&#{ord(match[0])};", entities))


def code(text: object) -> Markdown:
    """Return `text`, a name or a command on one line without a backtick, as a code span."""
    return Markdown(f"`{text}`")


def table(header: Sequence[str], rows: Sequence[Sequence[object]], right: Sequence[str] = ()) -> Markdown:
    """Return a GitHub table; the columns named in `right` are set flush right, cells are escaped."""
    rule = [Markdown("---:" if name in right else "---") for name in header]
    return Markdown("\n".join(f"| {' | '.join(map(escape, row))} |" for row in (header, rule, *rows)))


def run_origin(run: Run) -> list[str]:
    """Return commit, params hash, device, precision, kernels and libraries of a run; what differs is joined."""
    rows = []
    for made in run.provenance:
        libraries = ", ".join(f"{name} {version}" for name, version in made.libraries.items())
        hashes = short(made.commit), short(made.params_sha256)
        rows.append((*hashes, made.device, made.precision, kernels_in_words(made.kernels), libraries))
    return [" + ".join(dict.fromkeys(column)) for column in zip(*rows, strict=True)]


def run_origins(results: Sequence[Result]) -> dict[tuple[str, ...], list[str]]:
    """Return the variants by what `run_origin` says of their runs but for the params hash, which is each one's own."""
    variants: dict[tuple[str, ...], list[str]] = {}
    for result in results:
        commit, _, *made = run_origin(result.evaluation.run)
        variants.setdefault((commit, *made), []).append(result.variant)
    return variants


def short(identity: str) -> str:
    """Return the beginning of a hash, with the + of a commit whose code was changed before the run."""
    return identity[:10] + ("+" if identity.endswith("+") else "")


def kernels_in_words(kernels: str) -> str:
    """Return what computed between the matrix products: torch's own kernels or the compiled ones."""
    return "torch's" if kernels == "torch" else "compiled"


def accuracy_rows(results: Sequence[Result]) -> pd.DataFrame:
    """Return a row for each bar of a plot: model (its name), variant, init, accuracy (percent)."""
    rows = [
        (f"{result.variant}, {init}", result.variant, init, accuracy.mean)
        for result in results
        for init, accuracy in (("scratch", result.scratch), ("pretrained", result.pretrained))
    ]
    return pd.DataFrame(rows, columns=["model", "variant", "init", "accuracy"])


def thin(curves: pd.DataFrame, points: int = 200) -> pd.DataFrame:
    """Return at most `points` evenly spaced rows of each variant's seed and phase, first and last kept."""
    kept = []
    for _, rows in curves.groupby(["variant", "seed", "phase"], sort=False):
        spread = np.linspace(0, len(rows) - 1, min(len(rows), points))
        kept.append(rows.iloc[spread.round().astype(np.intp)])
    return pd.concat(kept, ignore_index=True)


def percent(share: float) -> str:
    """Return a share in percent; a dash for NaN."""
    return "–" if isnan(share) else f"{100 * share:.1f}"


@dataclass(frozen=True)
class PagePart:
    """A section of a page, and the files beside it, by name."""

    text: Markdown
    files: dict[str, str] = field(default_factory=dict)


def fill(beside: str, template: str, **values: object) -> Markdown:
    """Return a template's text with the values filled in, each escaped unless it is Markdown already.

    beside: a file in the template's folder.
    """
    pages = environment([Path(beside).parent, SHARED], finalize=escape, keep_trailing_newline=True)
    pages.filters |= {"code": code, "percent": percent, "p_value": shown_p}
    pages.globals |= {"figure": figure, "least": LEAST_SEEDS, "level": LEVEL}
    return Markdown(pages.get_template(template).render(**values))


def environment(folders: Sequence[Path], **options: Any) -> Environment:
    """Return the templates of the `folders`, in which a name without a value is an error."""
    loader = FileSystemLoader(folders)
    return Environment(loader=loader, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, **options)


def figure(name: str, label: str, caller: Callable[[], str]) -> Markdown:
    """Return the picture `name` above its caption, the body of the `call`; label: for readers who do not see it."""
    return Markdown(f"![{escape(label)}]({name})\n\n*{' '.join(caller().split())}*\n")
