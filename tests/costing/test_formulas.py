"""Each formula against what a forward pass computes and keeps."""

import pytest

from stages.costing.formulas import FORMULAS, Shape
from stages.model.registry import settings_of
from stages.settings import Model
from tests.costing.counting import counted
from tests.tiny import SETTINGS, VARIANTS

STATED = [variant for variant in VARIANTS if variant in FORMULAS]
# lengths below and above what windows and bottlenecks reach, widths with few and with many heads
SHAPES = [Shape(64, 3, 4, 64), Shape(256, 3, 4, 64), Shape(256, 2, 2, 128)]
# products are counted exactly, but for single rows: a recurrence has no product at its first step
PRODUCTS = 0.005
# kept numbers leave out statistics of norms, masks and gates, and need not follow every copy an implementation saves
KEPT = 0.15


@pytest.mark.parametrize("variant", STATED)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_formula_counts_what_the_code_computes_and_keeps(variant: str, shape: Shape) -> None:
    model = Model(layers=shape.layers, heads=shape.heads, width=shape.width, context=shape.length, dropout=0.0)
    section = settings_of(variant, SETTINGS.variants, model)
    said, found = FORMULAS[variant].cost(shape, section.model_dump()), counted(variant, section, shape)
    assert said.multiply_adds == pytest.approx(found.multiply_adds, rel=PRODUCTS)
    assert said.step == pytest.approx(found.step, rel=PRODUCTS)
    assert said.kept + said.scores == pytest.approx(found.kept, rel=KEPT)
    assert said.state == found.state


def test_the_course_s_two_answers() -> None:
    """Vanilla takes ℓ²d + ℓd², the perceiver ℓd² + m²d + ℓmd: the terms and no others, checked by their growth."""
    for length, m, d in ((64, 8, 32), (512, 32, 64)):
        shape = Shape(length, 3, 4, d)
        vanilla = FORMULAS["vanilla"].cost(shape, {}).multiply_adds
        assert vanilla == 3 * (2 * length**2 * d + 12 * length * d**2)
        perceiver = FORMULAS["perceiver"].cost(shape, {"bottleneck": m}).multiply_adds
        terms = 10 * length * d**2 + 26 * m * d**2 + 4 * m**2 * d + 2 * length * m * d
        assert perceiver == terms  # m ≤ ℓ: the term md² is within ℓd²


def test_what_rows_skip_are_the_pairs_out_of_reach() -> None:
    window = FORMULAS["window"].cost(Shape(512, 3, 4, 64), {"width": 16})
    assert window.multiply_adds - window.skipped == 3 * (2 * 512 * 16 * 64 + 12 * 512 * 64**2)
    assert FORMULAS["window"].cost(Shape(16, 3, 4, 64), {"width": 16}).skipped == 0
    several = FORMULAS["perceiver_ar"].cost(Shape(512, 3, 4, 64), {"latents": 32})
    assert several.multiply_adds - several.skipped == 2 * 512 * (512 + 2 * 32) * 64 + 3 * 12 * 512 * 64**2
    assert FORMULAS["rope"].cost(Shape(512, 3, 4, 64), {}).skipped == 0


def test_a_bottleneck_is_never_longer_than_the_text() -> None:
    perceiver = FORMULAS["perceiver"].cost
    assert perceiver(Shape(16, 3, 4, 32), {"bottleneck": 64}) == perceiver(Shape(16, 3, 4, 32), {"bottleneck": 16})
