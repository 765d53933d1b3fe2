"""Right and wrong: the dev answers of one variant as arrays, checked for being whole."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stages.reporting.evaluations import Evaluation
from stages.reporting.records import REMAKE
from stages.system.errors import StudyError

Marks = npt.NDArray[np.int64]  # (N, seeds), 1 right, 0 wrong


@dataclass(frozen=True, eq=False)
class Answers:
    """The N dev answers of each seed after one way of training, in the order of the rows and of the seeds."""

    correct: Marks
    probability: npt.NDArray[np.float64]  # (N, seeds) of the whole answer
    gold: npt.NDArray[np.str_]  # (N,) the right places


def dev_answers(evaluation: Evaluation, init: str, questions: int) -> Answers:
    """Return the answers of `init` (scratch or pretrained) to the dev split.

    Raises StudyError unless every seed answered each of the `questions` dev questions once, and the baseline's.
    """
    table = evaluation.predictions
    rows = table[(table["split"] == "dev") & (table["init"] == init)]
    read = rows.astype({"row": int, "seed": int, "correct": int, "probability": float})
    counts = read.groupby("seed")["row"].agg(["size", "nunique"])
    if counts.empty or not (counts == questions).all(axis=None):
        raise StudyError(
            f"predictions.tsv of {evaluation.variant}: {init} does not answer each of the {questions} dev questions "
            f"once per seed; {REMAKE}"
        )
    if ((read["predicted"] == read["gold"]) != read["correct"]).any():
        raise StudyError(f"predictions.tsv of {evaluation.variant}: not of the baseline's dev questions; {REMAKE}")
    by_seed = read.pivot(index="row", columns="seed", values=["correct", "probability"])
    return Answers(
        correct=by_seed["correct"].to_numpy().astype(np.int64),
        probability=by_seed["probability"].to_numpy(),
        gold=read.drop_duplicates("row").sort_values("row")["gold"].to_numpy(dtype=str),
    )
