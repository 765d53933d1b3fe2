"""Bits of prompts against arithmetic by hand, and a world as `quick` has it."""

from math import log2

import numpy as np
import pytest

from stages.asking.prompts import continuation, question
from stages.asking.recall import bits
from tests.support.tiny import MODEL, tiny_model
from tests.support.toy import learned, toy_facts, toy_prepared


def test_bits_of_prompts_are_log_ratios_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = toy_facts()[:3]
    own = np.log(np.array([[0.5, 0.25, 0.125], [0.1, 0.4, 0.1], [0.2, 0.2, 0.2]]))  # p(place of row | prompt of column)
    calls = iter(own)
    monkeypatch.setattr("stages.asking.recall.read_targets", lambda *_: (next(calls), None))
    gains = [log2(0.5 / 0.1875), log2(0.4 / 0.1), log2(0.2 / 0.2)]
    prompts = [question(fact) for fact in facts]
    assert bits(tiny_model("rope"), toy_prepared().vocabulary, facts, prompts) == pytest.approx(np.mean(gains))


def test_a_model_that_knows_the_pages_has_many_bits_and_one_that_does_not_has_none() -> None:
    facts = toy_facts()
    pages = [continuation(fact, MODEL.context) for fact in facts]
    assert bits(learned(("continuation",)), toy_prepared().vocabulary, facts, pages) > 5
    untrained = tiny_model("rope", len(toy_prepared().vocabulary))
    assert abs(bits(untrained, toy_prepared().vocabulary, facts, pages)) < 0.5
