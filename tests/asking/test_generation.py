"""Greedy answers of a batch are those of the plain reference to each prompt; they stop where they should."""

import numpy as np
import pytest

from stages.asking.decoding import Continuation
from stages.asking.generation import generate
from stages.plain.generation import answer
from tests.support.tiny import MODEL, VARIANTS, loud, plain_twin, tiny_model

VOCABULARY = 8  # so few that an untrained model says MASK now and then
LENGTHS = (5, 3, 17, 5, 1, 40, 60, MODEL.context - 1, MODEL.context)
DRAWS = np.random.default_rng(0)
BATCH = [DRAWS.integers(2, VOCABULARY, size=length) for length in LENGTHS]


def tokens_of(answers: list[Continuation]) -> list[list[int]]:
    return [answer.tokens.tolist() for answer in answers]


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_batch_of_prompts_is_answered_as_the_plain_reference_answers_each(variant: str) -> None:
    model = loud(tiny_model(variant, VOCABULARY))
    answers = generate(model, BATCH, max_characters=12)
    plain = plain_twin(variant, model)
    expected = [answer(plain, prompt.tolist(), 12) for prompt in BATCH]
    assert tokens_of(answers) == [characters for characters, _ in expected]
    probabilities = [probability for _, probability in expected]
    assert [answer.probability for answer in answers] == pytest.approx(probabilities, rel=1e-4)


def test_untrained_models_of_this_seed_say_mask_now_and_then() -> None:
    """Else the comparison above would not see how sequences leave the batch."""
    answers = [generate(loud(tiny_model(variant, VOCABULARY)), BATCH[:6], 12) for variant in VARIANTS]
    lengths = {len(characters) for some in answers for characters in tokens_of(some)}
    assert 12 in lengths
    assert lengths & set(range(12))


def test_a_model_in_training_answers_without_dropout() -> None:
    model = loud(tiny_model(VARIANTS[0], VOCABULARY, model=MODEL.model_copy(update={"dropout": 0.5}))).train()
    first, second = (generate(model, BATCH[:2], max_characters=8) for _ in range(2))
    assert tokens_of(first) == tokens_of(second)
    assert [a.probability for a in first] == [a.probability for a in second]
