"""The complexities in words against the products that are counted and the states that are made."""

import pytest

from stages.method.measurement import count
from stages.method.sections.complexity import COMPLEXITY
from stages.model.registry import build
from tests.method.test_measurement import cell

LENGTHS = (128, 256, 512)  # beyond every window, bottleneck and chunk
MASKED = ("window", "perceiver_ar")  # torch multiplies all pairs and masks


@pytest.mark.parametrize("variant", [name for name in COMPLEXITY if name not in MASKED])
def test_products_have_a_term_of_the_length_s_square_where_the_words_have_one(variant: str) -> None:
    one, two, four = (count(cell(variant, length)) for length in LENGTHS)
    curvature = ((four - two) / 2 - (two - one)) / one  # 0 if the three points lie in a line
    assert (curvature > 0.1) == ("ℓ²" in COMPLEXITY[variant].forward)
    assert abs(curvature) < 0.01 or "ℓ²" in COMPLEXITY[variant].forward


@pytest.mark.parametrize("variant", COMPLEXITY)
def test_a_state_grows_with_the_length_where_the_words_do(variant: str) -> None:
    asked = cell(variant, LENGTHS[-1])
    backbone = build(variant, asked.model, asked.settings)
    short, long = (
        sum(state.bytes_per_sequence for state in backbone.empty_states(1, length)) for length in LENGTHS[::2]
    )
    assert 2 * short < long <= 4 * short if "ℓ" in COMPLEXITY[variant].state else long == short
