"""Tables of results: text files whose columns are known. Apart, as pandas takes a third of a second to load."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

CURVES = dict.fromkeys(("variant", "phase", "step", "epoch", "loss", "learning_rate"), str)  # figures as written


def read_table(path: Path, types: Mapping[str, type]) -> pd.DataFrame:
    """Read a .csv or a tab-separated table; columns without a type are what they look like.

    Text is as it is written: "NA" is no missing value, "007" no number.
    """
    separator = "," if path.suffix == ".csv" else "\t"
    return pd.read_csv(path, sep=separator, dtype=dict(types), na_filter=False)
