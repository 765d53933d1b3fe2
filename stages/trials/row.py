"""The row of a trial: what one training knows and answers, as marks, without the questions."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, StringConstraints

from stages.system.digests import as_written
from stages.system.files import write_json
from stages.system.records import Amount, Count, MarkString

ABLATIONS = Path("data/ablations")  # <recipe>/<change>.json
ACCESS = Path("reports/access/rows")  # in git, so that the page can be made without training
PRACTICES = ("reader", "any", "one")  # changes of the study of access: who chooses the phrases


class Row(BaseModel):
    """What one training knows and answers."""

    recipe: str
    variant: str
    change: str
    seed: Count
    epochs: Count
    correct: MarkString
    memorised: Annotated[str, StringConstraints(pattern="^[01-]+$")]  # `-`: no page tells the answer
    of_own_page: MarkString  # whether the answer is a part of the person's own page
    says: dict[str, MarkString]  # by `reader` or another chooser of phrases: whether the answer is its phrase
    pretrain_loss: Amount
    seconds: Amount  # of pretraining
    provenance: dict[str, Any]

    def save(self, path: Path) -> None:
        write_json(path, self.model_dump())

    @classmethod
    def load(cls, path: Path) -> "Row":
        """Return a row that was saved. Raises StudyError: it is damaged."""
        with as_written(path):
            return cls.model_validate_json(path.read_bytes())


def marks(rows: Sequence[Row], name: str) -> npt.NDArray[np.int64]:
    """Return marks (N, seeds), 1 or 0, of rows that differ in their seed; name: a field or a key of `says`."""
    characters = [[*(row.says[name] if name in row.says else getattr(row, name))] for row in rows]
    return (np.array(characters).T == "1").astype(np.int64)
