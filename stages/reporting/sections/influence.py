"""The report's section on which inputs reach which outputs: what a variant cannot know, however it is trained."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from stages.reporting.markdown import Markdown, escape, table
from stages.reporting.sections.influence_figure import influence_svg, targets_svg
from stages.reporting.sections.patterns import Pattern, pattern_of, said_of, through_weights
from stages.reporting.sections.pictures import TARGETS, Picture, read_pictures, read_targets
from stages.reporting.template import Part, fill

TEMPLATE = "influence.md.jinja"
FAINT = 1e-290  # below this the smallest derivatives near those that float64 takes for 0


@dataclass(frozen=True)
class Known:
    """A picture, its pattern, and the share of the TARGETS, in percent, that stand where the pattern limits."""

    picture: Picture
    pattern: Pattern
    shares: dict[str, float | None]  # None where there are no such targets, or where other blocks reach further

    @property
    def start(self) -> int | None:
        """The output from which on targets are concerned; None where none are, or none are counted."""
        return None if self.shares["targets"] is None else self.pattern.start


def influence_part(
    folder: Path, targets_folder: Path, recipe: str, layers: int, variants: Sequence[str]
) -> Part | None:
    """The section made from `<folder>/<variant>` of those of `variants` that have one; None if none has.

    targets_folder: that of the recipe's targets; layers: the recipe's blocks.

    Raises:
        StudyError: something is missing or broken.
    """
    read = [read_pictures(folder / name) for name in variants if (folder / name).is_dir()]
    if not read:
        return None
    targets = read_targets(targets_folder)
    known = [knowledge(picture, targets, each.layers == layers) for each in read for picture in each.pictures]
    own = [each.own for each in read]
    files = {"influence.svg": influence_svg(own, [picture.variant for picture in own])}
    several = [each for each in read if len(each.pictures) > 1]
    for each in several:
        name = f"influence_{each.variant}.svg"
        titles = [picture.setting + ("\nas trained" if picture.own else "") for picture in each.pictures]
        files[name] = influence_svg(each.pictures, titles)
    starts = _starts(known)
    if starts:
        files["influence_targets.svg"] = targets_svg(targets, starts)
    text = fill(
        TEMPLATE,
        first=read[0],
        context=len(own[0].seen),
        recipe=recipe,
        several=[each.variant for each in several],
        statements=statements(known),
        limits_table=limits_table(known) if starts else "",
        layers=layers,
        uncounted=[each.picture.name for each in known if each.start is None and each.pattern.start is not None],
        faint=[each.picture.name for each in known if each.picture.faintest < FAINT],
        content=bool(targets["masked_content"].sum()),
    )
    return Part(text, files)


def knowledge(picture: Picture, targets: pd.DataFrame, as_deep: bool) -> Known:
    """Name a picture's pattern and count the targets that it concerns.

    as_deep: whether the blocks that were looked at are as many as the targets' recipe has. A window reaches further
    through more of them, so its targets are counted only then.
    """
    pattern = pattern_of(picture.seen)
    shares: dict[str, float | None] = {}
    for name in TARGETS:
        total = int(targets[name].sum()) if as_deep or pattern.kind != "window" else 0
        past = 0 if pattern.start is None else int(targets.loc[pattern.start :, name].sum())
        shares[name] = 100 * past / total if total else None
    return Known(picture, pattern, shares)


def statements(known: Sequence[Known]) -> Markdown:
    """Return a list of what is to be said of the pictures, each sentence once with those it is true of."""
    named: dict[str, list[str]] = {}
    for said in (_limits, _weights):
        for each in known:
            named.setdefault(said(each), []).append(each.picture.name)
    named.pop("", None)
    return Markdown(
        "\n".join(f"- {'; '.join(f'**{escape(n)}**' for n in names)}: {said}" for said, names in named.items())
    )


def limits_table(known: Sequence[Known]) -> Markdown:
    """Return what each picture loses: pairs of input and output, and the targets from where it loses them on."""
    header = ("variant", "pairs without influence, %", "from output", "targets from there on, %", "masked content, %")
    rows = []
    for each in known:
        T, pattern = len(each.picture.seen), each.pattern
        lost = f"{100 * pattern.pairs / (T * (T + 1) / 2):.1f}" if pattern.kind != "ahead" else "–"
        start = "–" if each.start is None else each.start
        rows.append((each.picture.name, lost, start, *(_percent(each.shares[name]) for name in TARGETS)))
    return table(header, rows, right=header[1:])


def _limits(known: Known) -> str:
    limits = said_of(known.pattern, len(known.picture.seen))
    if known.start is None:
        return limits
    content = known.shares["masked_content"]
    beside = "" if content is None else f" and {content:.0f} % of the masked content"
    return f"{limits} From output {known.start} on stand {known.shares['targets']:.0f} % of the targets{beside}."


def _weights(known: Known) -> str:
    return through_weights(known.picture)


def _starts(known: Sequence[Known]) -> dict[int, str]:
    """The outputs from which on a pattern limits, with the variants whose it is."""
    starts: dict[int, list[str]] = {}
    for each in known:
        if each.start is not None and each.picture.variant not in starts.setdefault(each.start, []):
            starts[each.start].append(each.picture.variant)
    return {start: f"{start}: {', '.join(names)}" for start, names in sorted(starts.items())}


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.1f}"
