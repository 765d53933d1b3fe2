"""The constant answer, on invented tables."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from stages import baseline
from stages.baseline import distances, percent
from stages.corpus.prepared import Prepared, write_table
from stages.corpus.vocabulary import Vocabulary
from stages.sources.audit import audit
from tests.support.project import with_sums, write_params
from tests.support.talking import Run
from tests.support.tiny import DOCUMENTS, QUESTIONS, SPLITS


def test_of_the_commonest_places_the_first_by_name_is_the_constant(tmp_path: Path, run_in: Run) -> None:
    write_params(tmp_path, values={"recipes.quick.baseline.place": None})
    prepared = tmp_path / "data/prepared/quick"
    places = ["Oss", "Vell", "Ilm", "Vell", "Oss", "Ilm", "Urr"]
    train = [replace(question, place=place) for question, place in zip(QUESTIONS, places, strict=False)]
    splits = SPLITS | {"train": train}
    Prepared.of(DOCUMENTS, splits).save(prepared)
    write_table(prepared / "audit.tsv", audit(DOCUMENTS, splits, Vocabulary.of(DOCUMENTS)))
    with_sums(prepared)
    assert run_in(tmp_path, baseline, "--recipe", "quick").out.startswith("Ilm: 1 of 8 dev = 12.5 %")


@pytest.mark.parametrize(("right", "of", "share"), [(1, 3, 33.33), (25, 500, 5.0), (0, 0, 0.0), (3, 3, 100.0)])
def test_percent_has_two_decimals_and_nothing_of_nothing_is_zero(right: int, of: int, share: float) -> None:
    assert percent(pd.Series([True] * right + [False] * (of - right))) == share


def test_a_distance_is_what_stands_between_title_and_place_and_empty_without_one() -> None:
    asked = pd.DataFrame({"name": ["Ada", "Bo Low", "Tam"], "position": [20, -1, 2]})
    assert distances(asked).to_csv(index=False).splitlines()[1:] == ["17", '""', "0"]  # the third is within the title
