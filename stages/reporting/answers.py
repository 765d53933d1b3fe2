"""Right and wrong: the dev answers of one variant as arrays, checked for being whole."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stages.reporting.evaluations import REMAKE, Evaluation
from stages.system.errors import StudyError

Marks = npt.NDArray[np.int64]  # (N, seeds), 1 right, 0 wrong


@dataclass(frozen=True, eq=False)
class Answers:
    """The N dev answers of each seed after one way of training, in the order of the rows and of the seeds.

    rows: (N,) 1-based rows of the source file; correct: (N, seeds) 1 or 0; probability: (N, seeds) of the whole
    answer; question, gold and predicted: (N,) texts, the last of the first seed.
    """

    rows: npt.NDArray[np.int64]
    seeds: tuple[int, ...]
    correct: Marks
    probability: npt.NDArray[np.float64]
    question: npt.NDArray[np.str_]
    gold: npt.NDArray[np.str_]
    predicted: npt.NDArray[np.str_]

    def constant(self, place: str) -> Marks:
        """Which questions the answer `place` is right for, as of one seed: (N, 1)."""
        return (self.gold == place).astype(np.int64)[:, None]


def dev_answers(evaluation: Evaluation, init: str, questions: int) -> Answers:
    """Return the answers of `init` (scratch or pretrained) to the dev split.

    Raises StudyError unless every seed answered each of the `questions` dev questions exactly once, with a mark of
    0 or 1 and a probability in 0…1.
    """
    table = evaluation.predictions
    rows = table[(table["split"] == "dev") & (table["init"] == init)]
    where = f"predictions.tsv of {evaluation.variant}"
    if not rows["correct"].isin(["0", "1"]).all():
        raise StudyError(f"{where}: a dev row's `correct` is neither 0 nor 1; {REMAKE}")
    counts = rows.groupby("seed")["row"].agg(["size", "nunique"])
    if counts.empty or not (counts == questions).all(axis=None) or rows["row"].nunique() != questions:
        raise StudyError(
            f"{where}: {init} does not answer each of the {questions} dev questions once per seed; {REMAKE}"
        )
    try:
        read = rows.astype({"row": int, "seed": int, "correct": int, "probability": float})
    except ValueError:
        raise StudyError(f"{where}: a dev row holds a word where a number is due; {REMAKE}") from None
    if not read["probability"].between(0, 1).all():
        raise StudyError(f"{where}: a dev row's `probability` is not in 0 to 1; {REMAKE}")
    by_seed = read.pivot(index="row", columns="seed", values=["correct", "probability"])
    first = read[read["seed"] == read["seed"].min()].sort_values("row")
    return Answers(
        rows=first["row"].to_numpy(),
        seeds=tuple(int(seed) for seed in by_seed["correct"].columns),
        correct=by_seed["correct"].to_numpy().astype(np.int64),
        probability=by_seed["probability"].to_numpy(),
        question=first["question"].to_numpy(dtype=str),
        gold=first["gold"].to_numpy(dtype=str),
        predicted=first["predicted"].to_numpy(dtype=str),
    )
