"""A table is read as it was written."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stages.corpus.prepared import write_table
from stages.system.files import read_table

TEXTS = st.sampled_from(["NA", "None", "nan", "007", "1e5", "", " ", '"', "a\tb", "a\nb", "#", "True"]) | st.text(
    st.characters(exclude_categories=["C"])
)


@given(texts=st.lists(TEXTS, min_size=1))
def test_text_stays_text_and_numbers_are_numbers(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    path = tmp_path_factory.mktemp("some") / "table.tsv"
    table = pd.DataFrame({"row": range(len(texts)), "text": texts})
    write_table(path, table)
    read = read_table(path, {"text": str})
    assert read.text.tolist() == texts and read.row.tolist() == table.row.tolist() and read.row.dtype == int
