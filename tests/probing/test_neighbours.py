"""Nearest names and states."""

import pandas as pd
import pytest
import torch
from torch.nn.functional import normalize

from stages.corpus.prepared import Prepared
from stages.corpus.questions import Question
from stages.probing.neighbours import _states, edit_distances, neighbours
from tests.support.tiny import BIRTHPLACES, DOCUMENTS, QUESTIONS, SPLITS
from tests.support.toy import ALPHABET, learned, toy_prepared


@pytest.mark.parametrize(
    ("one", "other", "edits"),  # the first two are Wagner & Fischer's and Levenshtein's textbook cases
    [("kitten", "sitting", 3), ("saturday", "sunday", 3), ("abc", "abc", 0), ("abc", "", 3), ("ab", "ba", 2)],
)
def test_edits_are_the_textbooks(one: str, other: str, edits: int) -> None:
    assert edit_distances(one, [other, one, other + "!"]).tolist()[:2] == [edits, 0]
    assert edit_distances(other + "x", [one + "x"]).tolist() == [edits]


def test_only_wrong_answers_count_and_the_nearest_of_equal_questions_is_the_question_itself() -> None:
    prepared, places = toy_prepared(), list(BIRTHPLACES.values())  # the same eight questions in train and dev
    predicted = pd.Series(places, index=range(1, 9))
    assert neighbours(learned(("question",)), prepared, predicted).empty
    predicted[2], predicted[5] = "Zub", next(place for place in places if place != places[4])
    table = neighbours(learned(("question",)), prepared, predicted)
    share = places.count(predicted[5]) / 8
    assert table.to_numpy().tolist() == [[2, 0, 0, 0], [5, 0, 0, pytest.approx(share, abs=1e-4)]]


@pytest.mark.parametrize(("predicted", "shares"), [("Vell", [1, 0, 0.125]), ("Kip", [0, 1, 0.125])])
def test_the_nearest_name_and_the_nearest_state_are_each_found_by_their_own_measure(
    predicted: str, shares: list[float]
) -> None:
    # the name is nearly Oda Quill's, who is from Vell; the question is Lu Fane's, who is from Kip
    dev = [Question(1, "Where was Lu Fane born?", "Oda Quilt", "Elsewhere")]
    prepared = Prepared.of([*DOCUMENTS, ALPHABET], SPLITS | {"dev": dev})
    table = neighbours(learned(("question",)), prepared, pd.Series([predicted], index=[1]))
    assert table.to_numpy().tolist() == [[1, *shares]]


def test_a_state_is_what_the_head_reads_after_the_question_and_its_mark() -> None:
    prepared, model = toy_prepared(), learned(("question",))
    states = _states(model, prepared.questions["dev"])
    for state, question in zip(states, QUESTIONS, strict=True):
        read: list[torch.Tensor] = []
        hook = model.head.register_forward_pre_hook(lambda _, inputs, read=read: read.append(inputs[0]))
        model(torch.from_numpy(prepared.vocabulary.encode(f"{question.question}⁇"))[None])
        hook.remove()
        assert torch.allclose(state, normalize(read[0].reshape(-1, state.shape[0])[-1], dim=0), atol=1e-5)
