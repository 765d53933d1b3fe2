"""Where answers come from; unseen entities are in no text, and the same each time."""

import pandas as pd
import pytest

from stages.asking.probe import COUNT, dev_origins, origin, unseen_names
from stages.corpus.questions import Form
from stages.corpus.text import Vocabulary

OWN = "Oda Quill. Painter, born in Vell, of Ilm."
PLACES = {"Vell", "Ilm", "Nowhereham"}
BORN = Form("Where was ", " born?")
LETTERS = Vocabulary.of(["ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz '-"])
CORPUS = f"{OWN}\nTam Brae. Smith."


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Vell", "correct"),
        ("Painter", "own_page"),
        ("Ilm", "own_page"),  # a training answer, too: the first that fits counts
        ("Nowhereham", "training_answer"),
        ("Brae", "corpus"),
        ("vell", "hallucination"),
        ("Ilm. Tam", "hallucination"),  # the end of one line is no neighbour of the next one's start
        ("", "empty"),
    ],
)
def test_where_an_answer_comes_from(answer: str, expected: str) -> None:
    assert origin(answer, "Vell", [OWN], PLACES, CORPUS) == expected
    assert origin("Vell", None, (), PLACES, CORPUS) == "training_answer"  # of an unseen entity none is correct


def test_dev_answers_have_one_origin_each_and_test_answers_none() -> None:
    columns = ["init", "split", "seed", "row", "question", "gold", "predicted"]
    question = "Where was Oda Quill born?"
    rows = [
        ("scratch", "dev", "1", "1", question, "Vell", "Xyz"),
        ("pretrained", "dev", "1", "1", question, "Vell", "Vell"),
        ("pretrained", "dev", "1", "2", "Where was Tam Brae born?", "Urr", "Painter"),  # not of his own page
        ("pretrained", "test", "1", "1", question, "", "Vell"),
    ]
    table = dev_origins(pd.DataFrame(rows, columns=columns), {"1": [OWN], "2": []}, PLACES, CORPUS)
    assert table[["init", "row", "origin"]].to_numpy().tolist() == [
        *(["scratch", "1", "hallucination"], ["pretrained", "1", "correct"], ["pretrained", "2", "corpus"]),
    ]
    assert set(table.asked) == {"dev"}


def test_no_name_stands_in_the_known_text_and_each_can_be_read() -> None:
    known = ". ".join(unseen_names(LETTERS, "", BORN, 128))
    names = unseen_names(LETTERS, known, BORN, 32)
    assert names == unseen_names(LETTERS, known, BORN, 32)  # the same each time
    assert len(set(names)) == COUNT and not any(name in known or LETTERS.unknown(name) for name in names)
    assert max(len(f"Where was {name} born?") for name in names) <= 30  # ⁇ and an answer have room
