"""Invented documents and questions as long as the handout's: for what depends on lengths, and on nothing else."""

import numpy as np

from stages.corpus.prepared import SPLITS, Prepared
from stages.corpus.questions import Question

DOCUMENTS = 2937
QUESTIONS = {"train": 2000, "dev": 500, "test": 437}
ASKED = set("Where was born?")
LETTERS = sorted(ASKED | {chr(ord("À") + place) for place in range(253 - len(ASKED))})  # 256 with PAD, MASK, line feed
# lengths of the handout's lines: about log-normal, 141 characters on average, a third of them below 112
MEDIAN = 132
SPREAD = 0.37
SHORTEST = 38
LONGEST = 516
NAMES = (8, 20)  # characters of an invented name: `Where was … born?` then has 24 to 36


def lengths(rows: int, generator: np.random.Generator) -> np.ndarray:
    """Lengths (rows,) of documents in characters, distributed about as those of the handout's corpus."""
    drawn = generator.lognormal(np.log(MEDIAN), SPREAD, size=rows)
    return np.clip(drawn.round(), SHORTEST, LONGEST).astype(np.int64)


def prepared_like_the_handout(documents: int = DOCUMENTS, questions: dict[str, int] = QUESTIONS) -> Prepared:
    """Documents and questions of random letters, by default as many as the handout's, with 256 characters, too."""
    generator = np.random.default_rng(0)

    def word(length: int) -> str:
        return "".join(LETTERS[number] for number in generator.integers(len(LETTERS), size=length))

    texts = ["".join(LETTERS), *(word(length) for length in lengths(documents - 1, generator))]
    asked = {}
    for split in SPLITS:
        names = [word(int(generator.integers(*NAMES, endpoint=True))) for _ in range(questions[split])]
        asked[split] = [
            Question(row, f"Where was {name} born?", name, None if split == "test" else word(8))
            for row, name in enumerate(names, 1)
        ]
    return Prepared.of(texts, asked)
