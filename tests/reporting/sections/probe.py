"""Made-up probes on disk."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stages.reporting.template import Part

FORMS = ("continuation", "cloze", "words", "infilling", "other_name")
FACTS = 40
SHIFTS = {0: (40, 20), 1: (10, 18), 10: (4, 16)}  # how many facts the pretrained and the finetuned weights spell
READ = "Where was Ada Cole born?⁇"


def known(seed: int, memorised: int, asked: int, both: int) -> list[dict[str, Any]]:
    """Rows of knowledge.tsv: so many facts of each kind, the memorised ones in the cloze form alone."""
    rows = []
    for row in range(1, FACTS + 1):
        is_memorised = row <= memorised
        is_asked = row <= both or memorised < row <= memorised + asked - both
        outcomes = {f"{weights}_{form}": 0 for weights in ("pretrained", "finetuned") for form in FORMS}
        outcomes |= {"pretrained_cloze": int(is_memorised), "finetuned_cloze": int(is_memorised and row % 2)}
        outcomes |= {"pretrained_infilling": 1}  # not practised: it does not count
        outcomes |= {"pretrained_question": int(is_asked and row % 2), "finetuned_question": int(is_asked)}
        ranks = {
            "pretrained_page_rank": 1 if is_memorised else 7,
            "pretrained_question_rank": 12,
            "finetuned_page_rank": 2,
            "finetuned_question_rank": 1 if is_asked else 3 if row % 2 else 65,
        }
        measured = {**outcomes, **{f"{name}_logp": -0.5 for name in outcomes}, **ranks}
        place = {"position": 20 + row, "train_count": row % 4, "born": row % 2}
        rows.append({"variant": "x", "seed": seed, "row": row, **place, **measured})
    return rows


def shifted(seed: int, shifts: Mapping[int, tuple[int, int]]) -> list[dict[str, Any]]:
    """Rows of shifted.tsv."""
    return [
        {"variant": "x", "seed": seed, "row": row, "shift": shift}
        | {"pretrained": int(row <= before), "finetuned": int(row <= after)}
        for shift, (before, after) in shifts.items()
        for row in range(1, FACTS + 1)
    ]


def record(answers: Sequence[str] = ("Rome", "Oslo"), **changes: Any) -> dict[str, Any]:
    """probe.json of two trainings."""
    counts = {"answers": 20, "train": 10, "corpus": 5, "nowhere": 4, "nothing": 1}
    training = {
        "names": 4,
        "train": {"distance": 0.4, "by_chance": 0.2, "p": 0.001},
        "real": {"distance": 0.3, "by_chance": 0.29, "p": 0.4},
        "culture": {"cramers_v": 0.6, "by_chance": 0.5, "p": 0.02},
        "confidence": {"real": 0.8, "invented": 0.2, "surer": 0.9},
    }
    row = [1 / len(READ)] * len(READ)
    return {
        "variant": "x",
        "seeds": [1, 2],
        "questions": 50,
        "facts": FACTS,
        "cue": 10,
        "words": 4,
        "trained_forms": ["cloze"],
        "control": "cloze",
        "ranked_form": "cloze",
        "places": 1234,
        "furthest": 64,
        "origins": [
            {"init": init, "split": split, **counts} for init in ("scratch", "pretrained") for split in ("dev", "test")
        ],
        "made_up": ["Karati"],
        "people": {
            "trainings": [{"seed": seed, **training} for seed in (1, 2)],
            "answers": [
                {"answer": answer, "invented": 0.5, "real": 0.25, "train": 0.05 * number}
                for number, answer in enumerate(answers, 1)
            ],
        },
        "saliency": {
            **{"question": READ[:-1], "read": READ, "name": [10, 18], "answer": answers[0], "probability": 0.3},
            **{"gradients": [row, row], "attention": [[row, row, row], [row, row, row]]},
        },
        **changes,
    }


def write_probe(
    folder: Path,
    variant: str = "x",
    counts: tuple[int, int, int] = (30, 20, 18),
    answers: Sequence[str] = ("Rome", "Oslo"),
    shifts: Mapping[int, tuple[int, int]] = SHIFTS,
    **changes: Any,
) -> None:
    """Write a probe; counts: facts memorised, asked, both; shifts: facts spelled at each, before and after."""
    content = record(answers, **{"shifts": [*shifts], **changes})
    (folder / variant).mkdir(parents=True)
    (folder / variant / "probe.json").write_text(json.dumps(content), encoding="utf-8")
    _write_rows(folder / variant / "knowledge.tsv", [row for seed in (1, 2) for row in known(seed, *counts)])
    if shifts:
        _write_rows(folder / variant / "shifted.tsv", [row for seed in (1, 2) for row in shifted(seed, shifts)])
    said = [
        {"variant": "x", "seed": seed, "culture": culture, "name": name, "answer": answer, "probability": 0.25}
        for seed in (1, 2)
        for culture in ("dutch", "english")
        for name, answer in (("Ada Cole", answers[0]), ("Bea Cole", answers[0]), ("Eva Cole", answers[-1]))
    ]
    _write_rows(folder / variant / "invented.tsv", said)


def _write_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), delimiter="\t", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    path.write_text(text.getvalue(), encoding="utf-8")


def text_of(part: Part | None) -> str:
    assert part is not None
    return part.text
