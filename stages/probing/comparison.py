"""How answers about invented people compare with those about real ones, and what they depend on."""

from typing import Any

import numpy as np
import pandas as pd
from scipy import stats  # type: ignore[import-untyped]

PERMUTATIONS = 999
PLACES = 10  # most frequent answers that are set side by side


def summary(said: pd.DataFrame, predictions: pd.DataFrame, train: pd.Series, seed: int) -> dict[str, Any]:
    """What the report tells of invented people: a comparison for each training, and the most frequent answers.

    said: invented.tsv; predictions: predictions.tsv, every cell a string; train: the training questions' places;
    seed: of the permutations.
    """
    asked = predictions[(predictions.init == "pretrained") & (predictions.split == "dev")]
    comparisons = []
    for training, rows in said.groupby("seed", sort=True):
        real = asked[asked.seed == str(training)]
        answer = rows.answer.to_numpy(str)
        comparisons.append(
            {
                "seed": int(str(training)),
                "names": len(rows),
                "train": compared(answer, train.to_numpy(str), seed),
                "real": compared(answer, real.predicted.to_numpy(str), seed),
                "culture": association(rows.culture.to_numpy(str), answer, seed),
                "confidence": confidence(real.probability.to_numpy(float), rows.probability.to_numpy(float)),
            }
        )
    return {"trainings": comparisons, "answers": side_by_side(said.answer, asked.predicted, train)}


def total_variation(one: np.ndarray, other: np.ndarray) -> float:
    """Half the summed differences of the shares of each answer; 0: the same distribution, 1: nothing in common.

    one, other: (N,) and (M,), an answer each.
    """
    _, codes = np.unique(np.concatenate([one, other]), return_inverse=True)
    return _distance(codes, len(one))


def compared(one: np.ndarray, other: np.ndarray, seed: int) -> dict[str, float]:
    """The total variation distance of two samples, and what chance gives samples of such sizes: a permutation test.

    The answers are dealt out anew at random, again and again: two samples of the same distribution differ, too.
    by_chance: the mean of those distances; p: how often one is as large as the samples'.
    """
    random = np.random.default_rng(seed)
    _, codes = np.unique(np.concatenate([one, other]), return_inverse=True)
    distance = _distance(codes, len(one))
    dealt = np.array([_distance(random.permutation(codes), len(one)) for _ in range(PERMUTATIONS)])
    p = (1 + int((dealt >= distance - 1e-12).sum())) / (1 + PERMUTATIONS)  # equal but for rounding is as large
    return {"distance": distance, "by_chance": float(dealt.mean()), "p": p}


def association(groups: np.ndarray, said: np.ndarray, seed: int) -> dict[str, float]:
    """Cramér's V of answers with groups, and what chance gives: a permutation test as in `compared`.

    groups, said: (N,). V is 0 and p 1 where one of them is constant. Most pairs of group and answer are rare, so that
    V is far above 0 by chance, and the asymptotic p-value would not do.
    """
    random = np.random.default_rng(seed)
    _, rows = np.unique(groups, return_inverse=True)
    _, columns = np.unique(said, return_inverse=True)
    v = _cramers_v(rows, columns)
    dealt = np.array([_cramers_v(rows, random.permutation(columns)) for _ in range(PERMUTATIONS)])
    p = (1 + int((dealt >= v - 1e-12).sum())) / (1 + PERMUTATIONS)
    return {"cramers_v": v, "by_chance": float(dealt.mean()), "p": p}


def confidence(real: np.ndarray, invented: np.ndarray) -> dict[str, float]:
    """Mean probabilities of the answers, and the share of pairs in which the real person's answer is the surer one.

    real, invented: (N,), (M,). The share is Mann and Whitney's U over N·M; ties count half.
    """
    u = float(stats.mannwhitneyu(real, invented).statistic)
    return {
        "real": float(np.mean(real)),
        "invented": float(np.mean(invented)),
        "surer": u / (len(real) * len(invented)),
    }


def side_by_side(invented: pd.Series, real: pd.Series, train: pd.Series) -> list[dict[str, Any]]:
    """The most frequent answers about invented people with their shares there, among real people, and in train."""
    counts = invented.value_counts()
    first = sorted(counts.index, key=lambda answer: (-counts[answer], answer))[:PLACES]
    return [
        {
            "answer": answer,
            "invented": float((invented == answer).mean()),
            "real": float((real == answer).mean()),
            "train": float((train == answer).mean()),
        }
        for answer in first
    ]


def _distance(codes: np.ndarray, first: int) -> float:
    """Total variation distance of the first so many codes from the others."""
    size = int(codes.max()) + 1
    one, other = np.bincount(codes[:first], minlength=size), np.bincount(codes[first:], minlength=size)
    return float(np.abs(one / first - other / (len(codes) - first)).sum() / 2)


def _cramers_v(rows: np.ndarray, columns: np.ndarray) -> float:
    """Cramér's V of codes 0…r-1 and 0…c-1, (N,) each; scipy's takes ten times as long, which permuting multiplies."""
    r, c = int(rows.max()) + 1, int(columns.max()) + 1
    if min(r, c) < 2:
        return 0.0
    counts = np.bincount(rows * c + columns, minlength=r * c).reshape(r, c)
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / len(rows)
    return float(np.sqrt((((counts - expected) ** 2) / expected).sum() / len(rows) / (min(r, c) - 1)))
