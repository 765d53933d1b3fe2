"""Exact match."""

from typing import Any

import pandas as pd


def percent(part: float, whole: float) -> float:
    """part / whole in percent, to two decimals; 0 of nothing."""
    return round(100 * part / whole, 2) if whole else 0.0


def is_correct(predicted: str, gold: str) -> bool:
    """Exact match, as CS224N's assignment scores: the same characters, nothing more."""
    return predicted == gold


def constant_baseline(table: pd.DataFrame, audit: pd.DataFrame, place: str) -> dict[str, Any]:
    """Accuracies in percent on dev of always answering `place`, and of the training set's best constant.

    table: questions.tsv (split, row, question, place); audit: audit.tsv. The ceiling is the share of dev
    answers that stand in the person's own page.
    """
    train, dev = table[table.split == "train"].place, table[table.split == "dev"].place
    counts = train.value_counts()
    best = min(counts[counts == counts.max()].index)  # ties: first by name
    known = audit[audit.split == "dev"]
    return {
        "place": place,
        "dev_accuracy": percent((dev == place).sum(), len(dev)),
        "dev_correct": int((dev == place).sum()),
        "dev_questions": len(dev),
        "best_constant": {
            "place": best,
            "train_count": int(counts[best]),
            "train_share": percent(counts[best], len(train)),
            "dev_accuracy": percent((dev == best).sum(), len(dev)),
        },
        "audit": {
            "dev_questions": len(known),
            "answer_in_page": int(known.in_page.sum()),
            "ceiling": percent(known.in_page.sum(), len(known)),
        },
    }
