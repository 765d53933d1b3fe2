"""Made-up probes on disk."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from stages.reporting.template import Part

FACTS = 40
OFFSETS = {0: (40, 20), 1: (10, 18), 10: (4, 16)}  # how many facts the pretrained and the finetuned weights match
ORIGINS = {
    ("dev", "scratch"): ["corpus", "hallucination"],
    ("dev", "pretrained"): ["correct", "own_page", "training_answer", "corpus", "hallucination"],
    ("unseen", "pretrained"): ["training_answer", "hallucination", "empty", "training_answer"],
}


def write_probe(
    folder: Path,
    variant: str = "x",
    counts: tuple[int, int, int] = (30, 20, 18),
    offsets: Mapping[int, tuple[int, int]] = OFFSETS,
    forms: Sequence[str] = ("cloze", "other_name"),
) -> None:
    """Write a probe of two equal seeds; counts: facts memorised, in the first form alone, extracted, and both of it.

    Finetuning keeps every other memorised fact; the pretrained weights extract every other fact.
    """
    memorised, extracted, both = counts
    row = np.arange(1, FACTS + 1)
    is_memorised = row <= memorised
    is_extracted = (row <= both) | (~is_memorised & (row <= memorised + extracted - both))
    facts = pd.DataFrame({"row": row})
    for weights in ("pretrained", "finetuned"):
        facts[[f"{weights}_{form}" for form in forms]] = 0
    for name in (forms[0], "memorised"):
        facts = facts.assign(**{f"pretrained_{name}": is_memorised, f"finetuned_{name}": is_memorised & (row % 2 > 0)})
    facts = facts.assign(pretrained_extracted=is_extracted & (row % 2 > 0), finetuned_extracted=is_extracted)
    moved = [(number, offset, number <= old, number <= new) for offset, (old, new) in offsets.items() for number in row]
    origins = [(*asked, number, each) for asked, found in ORIGINS.items() for number, each in enumerate(found, 1)]
    (folder / variant).mkdir(parents=True)
    write_rows(folder / variant / "extraction.tsv", facts)
    columns = ["row", "offset", "pretrained", "finetuned"]
    write_rows(folder / variant / "prefix_offset.tsv", pd.DataFrame(moved, columns=columns))
    columns = ["asked", "init", "row", "origin"]
    write_rows(folder / variant / "origins.tsv", pd.DataFrame(origins, columns=columns))


def write_rows(path: Path, table: pd.DataFrame) -> None:
    """Write the rows for two seeds, with 1 and 0 for true and false."""
    table = table.replace({True: 1, False: 0})
    both = pd.concat([table.assign(seed=seed) for seed in (1, 2)])
    both.to_csv(path, sep="\t", index=False, lineterminator="\n")


def text_of(part: Part | None) -> str:
    """The section's text."""
    assert part is not None
    return part.text


def cells(text: str, *first: str) -> list[list[str]]:
    """Of each row of a table that begins with these cells those that follow."""
    lines = [line for line in text.splitlines() if line.startswith(f"| {' | '.join(first)} |")]
    return [[cell.strip() for cell in line.strip("|").split("|")][len(first) :] for line in lines]
