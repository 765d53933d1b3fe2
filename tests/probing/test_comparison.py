"""Distances, association and confidence, by hand and against scipy."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from stages.probing.comparison import association, compared, confidence, side_by_side, summary, total_variation

A, B = np.array(list("aabb")), np.array(list("bbcc"))


def test_the_distance_by_hand() -> None:
    assert total_variation(A, A[:2]) == 0.5
    assert total_variation(A, B) == 0.5
    assert total_variation(A, np.array(["a", "b"])) == 0.0
    assert total_variation(A, np.array(["z"])) == 1.0


def test_samples_of_one_distribution_are_no_further_apart_than_by_chance_and_others_are() -> None:
    random = np.random.default_rng(0)
    one, other = random.choice(list("abcdefgh"), 200), random.choice(list("abcdefgh"), 300)
    same = compared(one, other, 0)
    assert same["p"] > 0.05 and same["distance"] == pytest.approx(same["by_chance"], abs=0.05)
    apart = compared(one, np.where(other < "d", "a", other), 0)
    assert apart["p"] < 0.01 and apart["distance"] > apart["by_chance"] + 0.1
    assert compared(one, other, 0) == same


def test_cramers_v_is_scipys_and_sees_what_there_is() -> None:
    random = np.random.default_rng(1)
    groups, said = random.choice(list("pqr"), 120), random.choice(list("abcde"), 120)
    free = association(groups, said, 0)
    assert free["cramers_v"] == pytest.approx(stats.contingency.association(pd.crosstab(groups, said).to_numpy()))
    assert free["p"] > 0.05 and free["cramers_v"] == pytest.approx(free["by_chance"], abs=0.1)
    assert association(groups, groups, 0)["cramers_v"] == pytest.approx(1)
    assert association(groups, np.where(groups == "p", "a", said), 0)["p"] < 0.01


def test_a_constant_answer_depends_on_nothing() -> None:
    assert association(np.array(list("pqr")), np.array(["London"] * 3), 0) == {
        **{"cramers_v": 0.0, "by_chance": 0.0, "p": 1.0},
    }


def test_confidence_counts_pairs() -> None:
    assert confidence(np.array([0.9, 0.5]), np.array([0.5, 0.1])) == pytest.approx(
        {"real": 0.7, "invented": 0.3, "surer": 3.5 / 4}
    )


def test_side_by_side_has_the_most_frequent_first_and_equals_by_name() -> None:
    rows = side_by_side(pd.Series(list("babac")), pd.Series(list("bx")), pd.Series(list("aaab")))
    assert [row["answer"] for row in rows] == ["a", "b", "c"]
    assert rows[0] == {"answer": "a", "invented": 0.4, "real": 0.0, "train": 0.75}
    assert rows[1]["real"] == 0.5


def test_the_summary_compares_each_training_with_its_own_answers() -> None:
    said = pd.DataFrame(
        [(seed, culture, "N", answer, 0.5) for seed in (1, 2) for culture, answer in (("x", "a"), ("y", "b"))],
        columns=["seed", "culture", "name", "answer", "probability"],
    )
    predictions = pd.DataFrame(
        [
            ("pretrained", "dev", "1", "a", "0.9"),
            ("pretrained", "dev", "2", "z", "0.1"),
            ("scratch", "dev", "1", "q", "1"),
        ],
        columns=["init", "split", "seed", "predicted", "probability"],
    )
    found = summary(said, predictions, pd.Series(["a", "b"]), 0)
    first, second = found["trainings"]
    assert [each["seed"] for each in (first, second)] == [1, 2]
    assert (first["train"]["distance"], first["real"]["distance"], second["real"]["distance"]) == (0.0, 0.5, 1.0)
    assert (first["confidence"]["surer"], second["confidence"]["surer"]) == (1.0, 0.0)
