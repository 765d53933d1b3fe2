"""The constant answer, on an invented table."""

import pandas as pd

from stages.baseline import constant_baseline, distances, training_questions

TABLE = pd.DataFrame(
    [("train", place) for place in ("Oss", "Vell", "Ilm", "Vell", "Oss", "Ilm", "Urr")]
    + [("dev", place) for place in ("Vell", "London", "Ilm", "Ilm", "Urr", "ilm")]
    + [("test", "")] * 3,
    columns=["split", "place"],
)
AUDIT = pd.DataFrame(
    {"split": ["train"] * 7 + ["dev"] * 6 + ["test"] * 3, "in_page": [1] * 7 + [1, 0, 1, 1, 0, 1] + [0] * 3}
)


def test_a_constant_answer_is_scored_on_dev_alone() -> None:
    assert constant_baseline(TABLE, AUDIT, "London") == {
        "place": "London",
        "dev_accuracy": 16.67,
        "dev_correct": 1,
        "dev_questions": 6,
        # Ilm, Oss and Vell are answers twice each: the first by name
        "best_constant": {"place": "Ilm", "dev_accuracy": 33.33},
        "audit": {"answer_in_page": 4, "ceiling": 66.67},
    }


def test_a_place_counts_the_training_questions_that_it_answers_and_no_others() -> None:
    places = TABLE.place[TABLE.split != "train"]
    assert training_questions(TABLE, places).tolist() == [2, 0, 2, 2, 1, 0, 0, 0, 0]  # the last three: not known


def test_a_distance_is_what_stands_between_title_and_place_and_empty_without_one() -> None:
    asked = pd.DataFrame({"split": "dev", "row": [1, 2, 3], "name": ["Ada", "Bo Low", "Tam"]})
    audit = pd.DataFrame({"split": "dev", "row": [1, 2, 3], "position": [20, -1, 2]})
    assert distances(asked, audit) == ["17", "", "0"]  # the third place stands within the title
