"""The rank of a place is one more than the other places that are likelier, counted out one by one."""

import pytest

from stages.probing.forms import Asked
from stages.probing.ranking import BEYOND, Trie, ranks
from stages.probing.spelling import log_probabilities
from tests.probing.toy import learned, toy_facts, toy_prepared
from tests.tiny import VARIANTS, loud, tiny_model

VOCABULARY = toy_prepared().vocabulary
PLACES = ["Vell", "Velloa", "Ve", "Ilm", "Urr", "Ilma", "Oda", "Tam Brae"]


@pytest.mark.parametrize("closing", ["⁇", ""])
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_rank_is_that_of_counting_every_place(variant: str, closing: str) -> None:
    model = loud(tiny_model(variant, len(VOCABULARY)))
    prompts = ["Oda Quill ⁇", "Tam Brae born in ⁇", "a", "Where was Tam born?⁇"]
    asked = [Asked(prompt, place + closing) for prompt in prompts for place in PLACES]
    likely = log_probabilities(model, VOCABULARY, asked).reshape(len(prompts), len(PLACES))
    expected = 1 + (likely[:, None, :] > likely[:, :, None]).sum(axis=2)  # (prompts, places)
    assert ranks(model, VOCABULARY, asked, PLACES).tolist() == expected.ravel().tolist()


def test_a_place_that_is_none_of_them_is_ranked_among_them() -> None:
    model = loud(tiny_model("vanilla", len(VOCABULARY)))
    asked = [Asked("Oda Quill ⁇", "Vella⁇")]
    likely = log_probabilities(model, VOCABULARY, [*asked, *(Asked("Oda Quill ⁇", f"{place}⁇") for place in PLACES)])
    assert ranks(model, VOCABULARY, asked, PLACES).tolist() == [1 + int((likely[1:] > likely[0]).sum())]


def test_what_was_learned_is_first() -> None:
    facts = toy_facts()
    asked = [Asked(f"Where was {fact.name} born?⁇", f"{fact.place}⁇") for fact in facts]
    assert (ranks(learned(("question",)), VOCABULARY, asked, {fact.place for fact in facts}) == 1).all()


def test_a_place_behind_too_many_beginnings_is_beyond() -> None:
    letters = sorted(set("abdehiklmnorstu"))
    fact, *_ = toy_facts()
    places = [fact.place, *(first + second for first in letters for second in letters)]
    prompt = f"Where was {fact.name} born?⁇"
    model = learned(("question",))
    asked = [Asked(prompt, f"{place}⁇") for place in places]
    least = int(log_probabilities(model, VOCABULARY, asked).argmin())
    assert ranks(model, VOCABULARY, [asked[least], asked[0]], places).tolist() == [BEYOND, 1]


def test_a_trie_finds_its_texts_and_no_others() -> None:
    trie = Trie.of([VOCABULARY.encode(place) for place in PLACES])
    nodes = [trie.find(VOCABULARY.encode(place)) for place in PLACES]
    assert len(set(nodes)) == len(PLACES) and min(nodes) > 0
    assert [trie.find(VOCABULARY.encode(text)) for text in ("", "V", "Vello", "Tamm", "Il")] == [-1] * 5
    assert trie.ends.sum() == len(PLACES)
