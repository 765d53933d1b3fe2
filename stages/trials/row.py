"""The row of a trial: what one training knows and answers, as marks, without the questions."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel

from stages.system.files import write_json

ABLATIONS = Path("data/ablations")  # <recipe>/<change>.json
ACCESS = Path("reports/access/rows")  # in git, so that the page can be made without training
PRACTICES = ("reader", "any", "one")  # changes of the study of access: who chooses the phrases


class Row(BaseModel):
    """What one training knows and answers."""

    recipe: str
    variant: str
    change: str
    seed: int
    epochs: int
    correct: str  # a character for each question: 1 right, 0 wrong; here and below
    memorised: str  # `-`: no page tells the answer
    of_own_page: str  # whether the answer is a part of the person's own page
    says: dict[str, str]  # by `reader` or another chooser of phrases: whether the answer is its phrase
    pretrain_loss: float
    seconds: float  # of pretraining
    provenance: dict[str, Any]

    def save(self, path: Path) -> None:
        write_json(path, self.model_dump())

    @classmethod
    def load(cls, path: Path) -> "Row":
        """Return a row that was saved."""
        return cls.model_validate_json(path.read_bytes())


def mark_string(outcomes: Iterable[Any]) -> str:
    """Write outcomes, each true or false, as a character each: 1 or 0."""
    return "".join(str(int(outcome)) for outcome in outcomes)


def marks(rows: Sequence[Row], name: str) -> npt.NDArray[np.int64]:
    """Return marks (N, seeds), 1 or 0, of rows that differ in their seed; name: a field or a key of `says`."""
    characters = [[*(row.says[name] if name in row.says else getattr(row, name))] for row in rows]
    return (np.array(characters).T == "1").astype(np.int64)
