"""A pretrained model goes on with a text."""

import pytest

from stages.commands import sample
from tests.support.talking import RHYME, Run


def sampled(run: Run, *arguments: str) -> str:
    outcome = run(sample, "--recipe", "text", "--variant", "vanilla", *arguments)
    assert (outcome.code, outcome.err) == (0, "")
    return outcome.out.removesuffix("\n")


def test_the_draws_follow_from_their_seed(run: Run) -> None:
    hot = ("--characters", "80", "--temperature", "3")
    first, again, other = (sampled(run, *hot, "--draw-seed", seed) for seed in ("1", "1", "2"))
    assert first == again != other
    assert {len(first), len(other)} == {1 + 80}
    assert first.startswith("\n")


@pytest.mark.parametrize(
    "options", ["--temperature 0", "--temperature 3 --top-k 1", "--temperature 3 --top-p 0.0001", "--beams 3"]
)
def test_a_text_known_by_heart_goes_on_past_the_context_however_it_is_chosen(run: Run, options: str) -> None:
    passage = sampled(run, "--prompt", "The ", "--characters", "60", *options.split())
    assert passage == (RHYME * 10)[:64]


def test_any_recipes_pretrained_model_goes_on(run: Run) -> None:
    outcome = run(sample, "--prompt", "Zoé Ark.", "--characters", "23")
    assert outcome.out.startswith("Zoé Ark.") and len(outcome.out.removesuffix("\n")) == 8 + 23


def test_letters_of_a_prompt_that_the_text_lacks_are_told(run: Run) -> None:
    outcome = run(sample, "--recipe", "text", "--variant", "vanilla", "--prompt", "Thé ŒX", "--characters", "1")
    assert outcome.out.startswith("The ") and len(outcome.out) == len("The ") + 1 + 1
    assert outcome.err == "note: the corpus lacks é Œ X, so the model reads 'The '\n"
