"""Ways to answer."""

from stages.probing.decodings import by_decoding
from tests.probing.toy import learned, toy_prepared
from tests.tiny import loud, tiny_model

WAYS = ("greedy", "beam", "draw")


def test_what_is_known_by_heart_is_answered_in_every_way() -> None:
    found = by_decoding(learned(("question",)), toy_prepared(), 8)
    assert found.row.tolist() == list(range(1, 9))
    assert found[list(WAYS)].to_numpy().all()
    probable = found[[f"{way}_probability" for way in WAYS]].to_numpy()
    assert (probable > 0.9).all() and (probable[:, 0] == probable[:, 2]).all()


def test_a_beam_finds_answers_no_less_likely_than_greedy_and_draws_are_the_same_each_time() -> None:
    prepared = toy_prepared()
    nonsense = loud(tiny_model("vanilla", len(prepared.vocabulary)))
    found = by_decoding(nonsense, prepared, 8)
    assert found.beam_probability.mean() >= found.greedy_probability.mean()
    assert found.equals(by_decoding(nonsense, prepared, 8))
