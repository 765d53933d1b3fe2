"""Every variant's file says what the variant computes, and where that was published."""

import re
from importlib import import_module

import pytest

from stages.model.backbone import Backbone
from stages.model.mixer import Mixer
from stages.model.registry import defined
from tests.support.tiny import VARIANTS

FORMULA = re.compile(r"\S = \S|softmax\(.+\)V")
LINK = re.compile(r"https://(arxiv\.org/abs/\d{4}\.\d{4,5}|doi\.org/10\.\S+[^.])$", re.MULTILINE)
UNPUBLISHED = "no published source"  # what a variant without a paper says


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
