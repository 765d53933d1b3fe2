"""Made-up probes on disk."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from stages.reporting.sections.probes import WEIGHTS
from stages.reporting.template import Part

FACTS = 40
OFFSETS = {0: (40, 20), 1: (10, 18), 10: (4, 16)}  # how many facts the pretrained and the finetuned weights match
ORIGINS = {
    ("dev", "scratch"): ["corpus", "hallucination"],
    ("dev", "pretrained"): ["correct", "own_page", "training_answer", "corpus", "hallucination"],
    ("unseen", "pretrained"): ["training_answer", "hallucination", "empty", "training_answer"],
}


def write_probe(
    folder: Path, offsets: Mapping[int, tuple[int, int]] = OFFSETS, forms: Sequence[str] = ("cloze", "other_name")
) -> None:
    """Write a probe of two equal seeds: 30 of 40 facts memorised, in the first form alone, 20 extracted, 18 both.

    Finetuning keeps every other memorised fact; the pretrained weights extract every other fact.
    """
    row = np.arange(1, FACTS + 1)
    memorised, extracted = row <= 30, (row <= 18) | (row > 38)
    facts = {"row": row, **{f"{weights}_{form}": 0 * row for weights in WEIGHTS for form in forms}}
    for name in (forms[0], "memorised"):
        facts |= {f"pretrained_{name}": memorised, f"finetuned_{name}": memorised & (row % 2 > 0)}
    facts |= {"pretrained_extracted": extracted & (row % 2 > 0), "finetuned_extracted": extracted}
    moved = [(number, offset, number <= old, number <= new) for offset, (old, new) in offsets.items() for number in row]
    origins = [(*asked, number, each) for asked, found in ORIGINS.items() for number, each in enumerate(found, 1)]
    tables = {
        "extraction": pd.DataFrame(facts),
        "prefix_offset": pd.DataFrame(moved, columns=["row", "offset", *WEIGHTS]),
        "origins": pd.DataFrame(origins, columns=["asked", "init", "row", "origin"]),
    }
    (folder / "x").mkdir()
    for name, table in tables.items():
        both = pd.concat([table.replace({True: 1, False: 0}).assign(seed=seed) for seed in (1, 2)])
        both.to_csv(folder / "x" / f"{name}.tsv", sep="\t", index=False)


def text_of(part: Part | None) -> str:
    """The section's text."""
    assert part is not None
    return part.text


def cells(text: str, *first: str) -> list[list[str]]:
    """Of each row of a table that begins with these cells those that follow."""
    lines = [line for line in text.splitlines() if line.startswith(f"| {' | '.join(first)} |")]
    return [[cell.strip() for cell in line.strip("|").split("|")][len(first) :] for line in lines]
