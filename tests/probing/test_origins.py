"""Where answers come from."""

import pandas as pd
import pytest

from stages.probing.origins import corpus_text, made_up, origin, origins
from tests.probing.toy import toy_prepared
from tests.tiny import DOCUMENTS

PLACES = {"Vell", "Nowhereham"}
CORPUS = corpus_text(["Oda Quill. Painter, born in Vell.", "Tam Brae."])


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        *(("Vell", "train"), ("Nowhereham", "train"), ("Quill", "corpus"), ("vell", "nowhere"), ("", "nothing")),
        ("Vell. Tam", "nowhere"),  # the end of one line is no neighbour of the next one's start
        ("Vells", "nowhere"),
    ],
)
def test_where_an_answer_comes_from(answer: str, found: str) -> None:
    assert origin(answer, PLACES, CORPUS) == found


def predictions(*rows: tuple[str, str, str, str]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["init", "split", "correct", "predicted"])


def test_wrong_dev_answers_and_all_test_answers_are_counted() -> None:
    table = predictions(
        ("pretrained", "dev", "1", "Vell"),
        ("pretrained", "dev", "0", "Vell"),
        ("pretrained", "dev", "0", "Xyz"),
        ("pretrained", "test", "", "Quill"),
        ("scratch", "dev", "0", ""),
    )
    found = {(each.pop("init"), each.pop("split")): each for each in origins(table, PLACES, CORPUS)}
    assert found == {
        ("pretrained", "dev"): {"answers": 2, "train": 1, "corpus": 0, "nowhere": 1, "nothing": 0},
        ("pretrained", "test"): {"answers": 1, "train": 0, "corpus": 1, "nowhere": 0, "nothing": 0},
        ("scratch", "dev"): {"answers": 1, "train": 0, "corpus": 0, "nowhere": 0, "nothing": 1},
        ("scratch", "test"): {"answers": 0, "train": 0, "corpus": 0, "nowhere": 0, "nothing": 0},
    }


def test_examples_are_the_most_frequent_ones_and_reveal_no_name_and_no_place() -> None:
    table = predictions(
        *[("pretrained", "dev", "0", "Zub")] * 2,
        *[("pretrained", "test", "", "Yub")] * 2,
        *[("pretrained", "dev", "0", "Oda Quill of Zub")] * 9,  # a name
        *[("pretrained", "dev", "0", "New Tarn")] * 9,  # a gold place
        *[("pretrained", "dev", "0", "Painter")] * 9,  # a word of the corpus
        *[("scratch", "dev", "0", "Wub")] * 9,
        *(("pretrained", "dev", "0", f"X{letter}") for letter in "abcdefg"),
    )
    found = made_up(table, toy_prepared(), {"Vell"}, corpus_text(DOCUMENTS))
    assert found == ["Yub", "Zub", "Xa", "Xb", "Xc"]
