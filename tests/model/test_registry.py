"""The registry and the tables that tests hold beside it: no variant that comes with the project is missing."""

import pytest
import torch

from stages.model.registry import settings_of
from stages.plain.attention import ATTENTION
from tests.model.test_variants import PARAMETERS, STATE
from tests.support.tiny import BUILT_IN, MODEL, ROOT, SECTIONS, VARIANTS


def test_every_file_of_a_mixer_is_a_variant_of_the_study_and_the_other_way_round() -> None:
    files = (ROOT / "stages" / "mixers").glob("*.py")
    assert sorted(file.stem for file in files) == sorted(VARIANTS)


@pytest.mark.parametrize("variant", VARIANTS)
def test_settings_are_tried_without_memory_or_draws(variant: str) -> None:
    before = torch.get_rng_state()
    settings_of(variant, SECTIONS, MODEL.model_copy(update={"context": 10**6, "width": 10**6}))  # some 10^14 numbers
    assert torch.equal(torch.get_rng_state(), before)


def test_a_variant_that_comes_with_the_project_has_a_plain_reference_and_its_sizes_stated() -> None:
    for table in (VARIANTS, ATTENTION, PARAMETERS, STATE):
        assert set(BUILT_IN) <= set(table)
