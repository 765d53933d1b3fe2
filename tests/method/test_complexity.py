"""What the page states of operations and states, against counted products and the states that are made."""

import re

import pytest

from stages.method.measurement import count
from stages.model.registry import build
from tests.method.test_measurement import cell
from tests.support.tiny import BUILT_IN, ROOT

PAGE = (ROOT / "stages/method/sections/costs.md.jinja").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (.*) \| (.*) \| .* \| (.*) \|$", PAGE, re.MULTILINE)
STATED = {name: stated for names, *stated in ROWS for name in names.split(", ") if name in BUILT_IN}
LENGTHS = (128, 256, 512)  # beyond every window, bottleneck and chunk
MASKED = ("window", "perceiver_ar")  # torch multiplies all pairs and masks


@pytest.mark.parametrize("variant", BUILT_IN)
def test_products_and_states_grow_with_the_length_as_the_page_states(variant: str) -> None:
    forward, state = STATED[variant]
    one, two, four = (count(cell(variant, length)) for length in LENGTHS)
    curvature = ((four - two) / 2 - (two - one)) / one  # 0 if the three points lie in a line
    assert variant in MASKED or (curvature > 0.1 if "ℓ²" in forward else abs(curvature) < 0.01)

    asked = cell(variant, LENGTHS[-1])
    backbone = build(variant, asked.model, asked.settings)
    short, long = (
        sum(state.bytes_per_sequence for state in backbone.empty_states(1, length)) for length in LENGTHS[::2]
    )
    assert 2 * short < long <= 4 * short if "ℓ" in state else long == short
