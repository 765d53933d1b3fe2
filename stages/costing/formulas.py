"""What each variant costs by its formula. An entry is optional: a variant without one is measured all the same.

Letters: ℓ length in characters, d width, h heads, m bottleneck or latents, w window, c chunk. The formulas stand
here and not beside the mixers, so that a word changed in one trains nothing anew. tests/costing/test_formulas.py
holds them against the matrix products and the kept numbers of a real forward pass, tests/model/test_variants.py
against real states.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from stages.costing.exponents import growth

FAR = 2**30  # characters at which the leading term alone is left
DELTA_CHUNK = 32  # c: positions that gated_deltanet's full form solves for together
LINEAR_CHUNK = 128  # c: positions whose pairs linear's full form all multiplies


@dataclass(frozen=True)
class Shape:
    """A stack of blocks over one sequence."""

    length: int  # ℓ
    layers: int
    heads: int  # h
    width: int  # d

    @property
    def head_size(self) -> int:
        """Channels of a head."""
        return self.width // self.heads


@dataclass(frozen=True)
class Cost:
    """What a stack of blocks takes for one sequence, embedding and head left out."""

    multiply_adds: float  # of the matrix products of a forward pass
    kept: float  # numbers that a forward pass keeps for the way back
    step: float  # multiply-adds of reading character ℓ with the states of those before it
    state: float  # numbers of those states
    scores: float = 0.0  # attention weights kept beside them where attention is written out: not by rows, not on a GPU
    skipped: float = 0.0  # of the multiply-adds, those of pairs out of reach: only where attention is written out


@dataclass(frozen=True)
class Formula:
    """A variant's cost: as words for the page, and as the numbers of this project's code.

    `operations` and `memory` name the leading terms that the method itself needs, `computed` both of them for
    the code's full form where that takes more, `by_rows` the memory where attention goes from row to row, keeps
    no scores and skips pairs out of reach (stages/model/cpu/varlen_attention.py). `cost` counts what the code computes
    where it is written out.
    """

    operations: str
    memory: str
    step: str  # operations of reading one more character
    state: str  # memory of what was read before it
    cost: Callable[[Shape, Mapping[str, Any]], Cost]  # of a shape and the variant's settings
    computed: tuple[str, str] | None = None
    by_rows: str | None = None
    note: str | None = None  # a sentence on how the code's cost differs from the method's


def blocks(
    shape: Shape,
    multiply_adds: float,
    kept: float,
    step: float,
    state: float,
    scores: float = 0.0,
    skipped: float = 0.0,
) -> Cost:
    """Of equal blocks, each with the MLP's two products and, beside a mixer, 11ℓd kept numbers of its own.

    multiply_adds, kept, step, state, scores, skipped: one mixer's.
    """
    mlp = 8 * shape.width**2
    return Cost(
        shape.layers * (multiply_adds + mlp * shape.length),
        shape.layers * (kept + 11 * shape.length * shape.width),
        shape.layers * (step + mlp),
        shape.layers * state,
        shape.layers * scores,
        shape.layers * skipped,
    )


def _attention(shape: Shape, rotated: bool, reach: list[int | None] | None = None) -> Cost:
    """Full scores, masked. reach: how many characters each block looks at, its own included; all if None."""
    length, d = shape.length, shape.width
    reach = reach or [None] * shape.layers
    looked_at = sum(length if each is None else min(length, each) for each in reach) / shape.layers
    held = sum(length if each is None else min(length, each - 1) for each in reach) / shape.layers  # before its own
    return blocks(
        shape,
        multiply_adds=4 * length * d**2 + 2 * length**2 * d,
        kept=(7 if rotated else 5) * length * d,
        step=4 * d**2 + 2 * looked_at * d,
        state=2 * d * held,
        scores=shape.heads * length**2,
        skipped=2 * length * (length - looked_at) * d,
    )


def _multi_query(shape: Shape, _: Mapping[str, Any]) -> Cost:
    length, d, shared = shape.length, shape.width, 2 * shape.head_size
    products = 2 * d**2 + d * shared
    return blocks(
        shape,
        multiply_adds=length * products + 2 * length**2 * d,
        kept=(3 * d + shared) * length,
        step=products + 2 * length * d,
        state=shared * length,
        scores=shape.heads * length**2,
    )


def _dense_synthesizer(shape: Shape, _: Mapping[str, Any]) -> Cost:
    length, d, scored = shape.length, shape.width, shape.length - 1
    return blocks(
        shape,
        multiply_adds=3 * length * d**2 + 2 * length * scored * d,
        kept=5 * length * d,
        step=3 * d**2 + 2 * scored * d,
        state=length * d,
        scores=shape.heads * length * scored,
    )


def _random_synthesizer(shape: Shape, _: Mapping[str, Any]) -> Cost:
    length, d = shape.length, shape.width
    kept = 3 * length * d + shape.heads * length**2
    return blocks(shape, 2 * length * d**2 + length**2 * d, kept, 2 * d**2 + length * d, state=length * d)


def _perceiver(shape: Shape, settings: Mapping[str, Any]) -> Cost:
    """Down into m latents, blocks over them, up again; past the m-th character only the way up is left."""
    length, d, between = shape.length, shape.width, shape.layers - 2
    m = min(settings["bottleneck"], length)
    over_latents = 12 * m * d**2 + 2 * m**2 * d
    up = 10 * length * d**2 + 2 * length * m * d
    scores = shape.heads * (m**2 * (between + 1) + length * m)
    kept = 13 * length * d + (16 * between + 21) * m * d
    latents = (between + 1) * (12 * d**2 + 2 * m * d) + 2 * d**2 if length <= m else 0
    step, state = 10 * d**2 + 2 * m * d + latents, shape.layers * 2 * m * d
    return Cost((between + 1) * over_latents + 2 * m * d**2 + up, kept, step, state, scores)


def _linear(shape: Shape, _: Mapping[str, Any]) -> Cost:
    """Pairs within chunks; between them S and z, which the first chunk does not read and the last does not add to.

    Chunks are whole: beyond one, lengths that are no multiple of theirs are counted a little too high.
    """
    length, d, hs, c = shape.length, shape.width, shape.head_size, min(LINEAR_CHUNK, shape.length)
    pairs, carried = length * c * (2 * d + shape.heads), 2 * (length - c) * d * (hs + 1)
    kept = 6 * length * d + shape.heads * length * c + (length / c - 1) * d * (hs + 1)
    step = 4 * d**2 + 2 * d * (hs + 1) + 2 * d + shape.heads
    return blocks(shape, 4 * length * d**2 + pairs + carried, kept, step, state=d * (hs + 1))  # S and z


def _gated_deltanet(shape: Shape, _: Mapping[str, Any]) -> Cost:
    length, d, hs, c = shape.length, shape.width, shape.head_size, min(DELTA_CHUNK, shape.length)
    every = 5 * d**2 + 2 * shape.heads * d + 12 * d + 3 * d * hs
    kept = length * (24 * d + 5 * shape.heads * c + d * hs / (2 * c))
    state = d * (hs + 3 * 3)  # S; three inputs of q, k and v
    return blocks(shape, length * (every + 3 * c * d), kept, every + 3 * d, state)


def _recurrent(matrices: int, kept: int, vectors: int) -> Callable[[Shape, Mapping[str, Any]], Cost]:
    """Matrices (d, d) that each character is multiplied with; `kept` in units of ℓd; vectors (d,) of a state."""

    def cost(shape: Shape, _: Mapping[str, Any]) -> Cost:
        length, d = shape.length, shape.width
        products = matrices * d**2
        return blocks(shape, length * products, kept * length * d, products, vectors * d)

    return cost


QUADRATIC = ("ℓ²d + ℓd²", "hℓ² + ℓd", "ℓd + d²", "ℓd")  # operations, memory, step, state

FORMULAS: Mapping[str, Formula] = {
    "vanilla": Formula(*QUADRATIC, lambda s, _: _attention(s, rotated=False), by_rows="ℓd"),
    "rope": Formula(*QUADRATIC, lambda s, _: _attention(s, rotated=True), by_rows="ℓd"),
    "nope": Formula(*QUADRATIC, lambda s, _: _attention(s, rotated=False), by_rows="ℓd"),
    "mqa": Formula(*QUADRATIC[:3], "ℓd/h", _multi_query, by_rows="ℓd"),
    "window": Formula(
        "ℓwd + ℓd²",
        "hℓw + ℓd",
        "wd + d²",
        "wd",
        lambda s, settings: _attention(s, rotated=True, reach=[settings["width"]] * s.layers),
        computed=QUADRATIC[:2],
        by_rows="ℓd",
    ),
    "synthesizer": Formula(*QUADRATIC, _dense_synthesizer, by_rows="ℓd"),
    "random_synthesizer": Formula(*QUADRATIC, _random_synthesizer),
    "perceiver": Formula("ℓmd + m²d + ℓd²", "h(ℓm + m²) + ℓd", "md + d²", "md", _perceiver, by_rows="ℓd + md"),
    "perceiver_ar": Formula(
        "ℓ²d + ℓmd + ℓd²",
        "hℓ² + hℓm + ℓd",
        "ℓd + md + d²",
        "ℓd + md",
        lambda s, settings: _attention(s, rotated=False, reach=[None] + [settings["latents"]] * (s.layers - 1)),
        by_rows="ℓd",
        note="The paper's perceiver_ar has outputs, and so queries, at one sequence's last m positions only: over all "
        "characters in the first block, ℓmd, and over each other in later ones, m²d. Here each of the ℓ positions has "
        "an output: ℓ²d in the first block, ℓmd in later ones, ℓ/m times the paper's.",
    ),
    "linear": Formula("ℓcd + ℓd²/h + ℓd²", "hℓc + ℓd", "d²/h + d²", "d²/h", _linear),
    "gated_deltanet": Formula("ℓcd + ℓd²/h + ℓd²", "hℓc + ℓd", "d²/h + d²", "d²/h + d", _gated_deltanet),
    "min_gru": Formula("ℓd²", "ℓd", "d²", "d", _recurrent(matrices=3, kept=8, vectors=1)),
    "rnn": Formula("ℓd²", "ℓd", "d²", "d", _recurrent(matrices=2, kept=2, vectors=1)),
    "wrnn": Formula("ℓd²", "ℓd", "d²", "d", _recurrent(matrices=5, kept=5, vectors=2)),
}


def in_the_limit(value: Callable[[int], float]) -> int:
    """The exponent that a value of the length comes to as the length grows."""
    return round(growth(*((length, value(length)) for length in (FAR, 2 * FAR))))
