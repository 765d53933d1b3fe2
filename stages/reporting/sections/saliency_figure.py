"""The pictures of what an answer hangs on: a question's characters with rows of shares under them."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from matplotlib.colors import PowerNorm
from matplotlib.figure import Figure

from stages.reporting.sections.probes import Probe
from stages.reporting.style import GREY, WIDTH, styled, svg

COLOURS = "Blues"
ROW, HEAD_ROW = 0.24, 0.1  # inches
SPACE = "␣"

Block = tuple[str, int, list[list[float]]]  # variant, layer, rows of shares


def gradients_svg(probes: Sequence[Probe]) -> str:
    """Draw the gradients of each probe's question, a row a layer."""
    with styled():
        return svg(draw_gradients(probes))


def attention_svg(probes: Sequence[Probe]) -> str:
    """Draw the attention weights of each probe's question, a row a head."""
    with styled():
        return svg(draw_attention(probes))


def draw_gradients(probes: Sequence[Probe]) -> Figure:
    """Return the figure of `gradients_svg`."""
    blocks: list[Block] = []
    for probe in probes:
        assert probe.saliency is not None
        for layer, row in enumerate(probe.saliency["gradients"], start=1):
            blocks.append((probe.variant, layer, [row]))
    return _draw(probes, blocks, ROW, "share of the gradient (%)")


def draw_attention(probes: Sequence[Probe]) -> Figure:
    """Return the figure of `attention_svg`."""
    blocks: list[Block] = []
    for probe in probes:
        assert probe.saliency is not None
        for layer, heads in enumerate(probe.saliency["attention"], start=1):
            blocks.append((probe.variant, layer, heads))
    return _draw(probes, blocks, HEAD_ROW, "attention weight (%)")


def _draw(probes: Sequence[Probe], blocks: Sequence[Block], height: float, label: str) -> Figure:
    """Blocks of rows, each block labelled and set off from the next, under the characters of the question."""
    assert probes[0].saliency is not None
    characters = list(probes[0].saliency["read"])
    gaps = [0.0]  # before each block, in rows: narrow between layers, wide between variants
    for (before, *_), (variant, *_) in pairwise(blocks):
        gaps.append((0.1 if variant == before else 0.4) * ROW / height)
    tall = sum(gaps) + sum(len(rows) for *_, rows in blocks)
    figure = Figure(figsize=(WIDTH, 1.0 + height * tall), layout="constrained")
    axes = figure.subplots()
    # a root's scale, so that small shares are seen beside the largest
    scale = PowerNorm(0.5, vmin=0, vmax=100 * max(max(row) for *_, rows in blocks for row in rows))
    top, centres = 0.0, []
    for gap, (*_, rows) in zip(gaps, blocks, strict=True):
        top += gap
        edges = top + np.arange(len(rows) + 1)
        shares = 100 * np.array(rows)  # (rows, characters)
        mesh = axes.pcolormesh(np.arange(len(characters) + 1), edges, shares, cmap=COLOURS, norm=scale)
        centres.append(top + len(rows) / 2)
        top += len(rows)
    axes.set_ylim(tall, 0)
    axes.set_yticks(centres, [f"{variant}, layer {layer}" for variant, layer, _ in blocks])
    shown = [SPACE if character == " " else character for character in characters]
    axes.set_xticks(np.arange(len(characters)) + 0.5, shown, fontfamily="DejaVu Sans Mono")
    for tick, character in zip(axes.get_xticklabels(), characters, strict=True):
        tick.set_color(GREY if character == " " else "black")
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    figure.colorbar(mesh, ax=axes, label=label, shrink=min(1.0, 1.5 / (height * tall)), aspect=12, pad=0.02)
    return figure
