"""The registry: no variant is missing in it or beside it, and each one's file says what it computes."""

import re
from importlib import import_module

import pytest
import torch

from stages.model.mixer import Backbone, Mixer
from stages.model.registry import defined, settings_of
from stages.plain.attention import MIXERS
from tests.model.test_variants import STATE
from tests.support.tiny import BUILT_IN, MODEL, ROOT, SECTIONS, VARIANTS

FORMULA = re.compile(r"\S = \S|softmax\(.+\)V")
LINK = re.compile(r"https://(arxiv\.org/abs/\d{4}\.\d{4,5}|doi\.org/10\.\S+[^.])$", re.MULTILINE)
UNPUBLISHED = "no published source"  # what a variant without a paper says


def test_every_file_of_a_mixer_is_a_variant_of_the_study_and_the_other_way_round() -> None:
    files = (ROOT / "stages" / "mixers").glob("*.py")
    assert sorted(file.stem for file in files) == sorted(VARIANTS)


@pytest.mark.parametrize("variant", VARIANTS)
def test_settings_are_tried_without_memory_or_draws(variant: str) -> None:
    before = torch.get_rng_state()
    settings_of(variant, SECTIONS, MODEL.model_copy(update={"context": 10**6, "width": 10**6}))  # some 10^14 numbers
    assert torch.equal(torch.get_rng_state(), before)


def test_a_variant_that_comes_with_the_project_has_a_plain_reference_and_its_sizes_stated() -> None:
    for table in (VARIANTS, MIXERS, STATE):
        assert set(BUILT_IN) <= set(table)


def definition(variant: str) -> str:
    """The docstrings of a variant's file and of what it registers."""
    module = import_module(f"stages.mixers.{variant}")
    classes = [defined(variant, kind) for kind in (Mixer, Backbone)]
    return "\n".join(documented.__doc__ or "" for documented in (module, *filter(None, classes)))


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_variants_docstrings_give_its_formula_and_link_its_paper_or_say_that_there_is_none(variant: str) -> None:
    text, file = definition(variant), f"stages/mixers/{variant}.py"
    assert FORMULA.search(text), f"the docstrings of {file} have no formula, such as `o_t = W a_t`"
    assert bool(LINK.search(text)) != (UNPUBLISHED in text), (
        f"the docstrings of {file} need one of both: a line that ends in the address of the paper, "
        f"https://arxiv.org/abs/… or https://doi.org/…, or the words `{UNPUBLISHED}`"
    )
