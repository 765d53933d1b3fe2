"""Whether a wrong answer is a neighbour's: that of the training question with the most similar name or state."""

import numpy as np
import numpy.typing as npt
import pandas as pd
import torch
from torch import Tensor
from torch.nn.functional import normalize

from stages.corpus.prepared import Prepared
from stages.corpus.questions import prompt
from stages.corpus.ragged import Ragged
from stages.model.gpt import GPT
from stages.model.packing import Packing


def neighbours(model: GPT, prepared: Prepared, predicted: pd.Series) -> pd.DataFrame:
    """Return, for each wrong answer to dev, its row and the shares of training questions that have this answer.

    letters: among those with the least edit distance of the names; state: among those with the largest cosine of the
    states that the head reads after the questions; chance: among all. predicted: answers by the row of the question.
    """
    train, dev = prepared.of_split("train"), prepared.of_split("dev")
    answers = dev.row.map(predicted)
    cosines = _states(model, prepared.questions["dev"]) @ _states(model, prepared.questions["train"]).T  # (dev, train)
    rows = []
    for number in np.flatnonzero(answers != dev.place).tolist():
        same = (train.place == answers[number]).to_numpy()
        distances = edit_distances(dev.name[number], train.name.tolist())
        letters = same[distances == distances.min()].mean()
        state = same[np.asarray(cosines[number] == cosines[number].max())].mean()
        rows.append((dev.row[number], round(float(letters), 4), round(float(state), 4), round(same.mean(), 4)))
    return pd.DataFrame(rows, columns=["row", "letters", "state", "chance"])


def edit_distances(name: str, others: list[str]) -> npt.NDArray[np.int64]:
    """Count the insertions, deletions and replacements from a name to each other one (N,) (Levenshtein 1966)."""
    lengths = np.array([len(other) for other in others])
    letters = np.zeros((lengths.max(), len(others)), dtype=np.int64)  # 0 pads
    for number, other in enumerate(others):
        letters[: len(other), number] = [ord(letter) for letter in other]
    above = np.repeat(np.arange(len(letters) + 1)[:, None], len(others), axis=1)  # distances from an empty name
    for letter in name:
        row = [above[0] + 1]
        for column, kept in enumerate(letters != ord(letter)):
            row.append(np.minimum(np.minimum(above[column + 1], row[-1]) + 1, above[column] + kept))
        above = np.stack(row)
    return above[lengths, np.arange(len(others))]


@torch.inference_mode()
def _states(model: GPT, questions: Ragged) -> Tensor:
    """Return the states (N, C) that the head reads after each question's ⁇, scaled to length one."""
    device = model.head.weight.device
    states = torch.empty(len(questions), model.head.in_features)
    for length in np.unique(questions.lengths):
        rows = np.flatnonzero(questions.lengths == length)
        tokens = torch.from_numpy(np.stack([prompt(questions[row]) for row in rows.tolist()])).to(device)
        last = torch.arange(length, tokens.numel(), length + 1, device=device)
        hidden = model.eval().hidden(tokens.flatten(), Packing.full(tokens.shape), loss_indices=last)
        states[torch.from_numpy(rows)] = hidden.float().cpu()
    return normalize(states, dim=-1)
