"""What is memorised, and what of it a question extracts: exact match without decoding.

The two words are those of Allen-Zhu & Li 2023, "Physics of Language Models: Part 3.1, Knowledge Storage and Extraction"
(arXiv 2309.14316).

Prefix offset: pages up to the place, with the last characters of a question's opening before them.

At offset 10 the name is where a question has it, and everything else is in the page's words::

    Ada. Ada was born in                 Ulm        offset 0: form `continuation`
     Ada. Ada was born in                Ulm        1
    Where was Ada. Ada was born in       Ulm        10
"""

from collections.abc import Mapping, Sequence
from statistics import mode

import numpy as np
import pandas as pd
import torch

from stages.corpus.example import PAD, Examples
from stages.corpus.folding import around
from stages.corpus.vocabulary import Vocabulary
from stages.model.gpt import GPT
from stages.model.packing import Packing
from stages.probing.forms import PAGE_FORMS, Fact, Prompt, question

BATCH = 64  # prompts read at once; sorted by length, so that little of a batch is PAD


@torch.inference_mode()
def exact_matches(model: GPT, vocabulary: Vocabulary, prompts: Sequence[Prompt]) -> np.ndarray:
    """(B,) bool: whether the model's greedy continuation of each prompt is the target, a closing ⁇ included.

    It is exactly if each character of the target is the likeliest after those before it: one reading tells.
    """
    model.eval()
    read = [vocabulary.encode(prompt.text) for prompt in prompts]
    targets = [vocabulary.encode(prompt.target) for prompt in prompts]
    order = np.argsort([len(text) + len(target) for text, target in zip(read, targets, strict=True)], kind="stable")
    device = model.head.weight.device
    matches = np.zeros(len(prompts), dtype=bool)
    for rows in (order[start : start + BATCH] for start in range(0, len(order), BATCH)):
        batch = Examples.of_rows(
            [np.concatenate([read[row], targets[row]]) for row in rows], [len(read[row]) for row in rows]
        )
        loss_mask = batch.targets != PAD  # (B, T): the targets' characters
        characters = torch.from_numpy(loss_mask.ravel().nonzero()[0]).to(device)
        tokens = torch.from_numpy(batch.inputs).to(device).flatten()
        hidden = model.hidden(tokens, Packing.full(batch.inputs.shape), loss_indices=characters)  # (characters, C)
        likeliest = model.head(hidden).float().argmax(dim=-1).cpu().numpy()
        wrong = likeliest != batch.targets[loss_mask]
        matches[rows] = np.bincount(np.nonzero(loss_mask)[0], wrong, len(rows)) == 0
    return matches


def extraction(
    models: Mapping[str, GPT],
    vocabulary: Vocabulary,
    facts: Sequence[Fact],
    prompts: Mapping[str, Sequence[Prompt]],
    answered: np.ndarray,
) -> pd.DataFrame:
    """A row a fact: row, then 0 or 1 for each of `<weights>_<form>`, `<weights>_memorised` and `<weights>_extracted`.

    models: `pretrained` and `finetuned` of one training; prompts: the facts in each form; answered (B,): whether the
    finetuned model answers the question, which is *extracted*. *Memorised* is an exact match in any page form.
    """
    table = pd.DataFrame({"row": [fact.row for fact in facts]})
    pages = [form for form in prompts if form in PAGE_FORMS]
    for weights, model in models.items():
        for form, asked in prompts.items():
            table[f"{weights}_{form}"] = exact_matches(model, vocabulary, asked).astype(int)
        table[f"{weights}_memorised"] = table[[f"{weights}_{form}" for form in pages]].max(axis=1).fillna(0).astype(int)
    asked = [question(fact) for fact in facts]
    table["pretrained_extracted"] = exact_matches(models["pretrained"], vocabulary, asked).astype(int)
    return table.assign(finetuned_extracted=answered.astype(int))


def opening(fact: Fact) -> str:
    """What stands before the name in the question."""
    before, _ = around(fact.question, fact.name) or (fact.question, "")
    return before


def offsets(facts: Sequence[Fact]) -> list[int]:
    """0, 1 and the length of most openings, each once."""
    usual = mode(len(opening(fact)) for fact in facts) if facts else 0
    return sorted({0, min(1, usual), usual})


def offset_prompt(fact: Fact, offset: int) -> Prompt:
    """The page up to the place, so many characters further on."""
    before = opening(fact)
    return Prompt(before[len(before) - offset :] + fact.page[: fact.position], fact.place)


def with_room(facts: Sequence[Fact], most: int, context: int) -> list[Fact]:
    """Those whose opening has `most` characters, and of which the model reads all up to the place after these."""
    fitting = (fact for fact in facts if most + fact.position + len(fact.place) <= context + 1)
    return [fact for fact in fitting if len(opening(fact)) >= most]


def matches_by_offset(
    models: Mapping[str, GPT], vocabulary: Vocabulary, facts: Sequence[Fact], offsets: Sequence[int]
) -> pd.DataFrame:
    """A row for each offset and fact: row, offset, and 0 or 1 for each of `models`, by its name."""
    tables = []
    for offset in offsets:
        prompts = [offset_prompt(fact, offset) for fact in facts]
        matches = {name: exact_matches(model, vocabulary, prompts).astype(int) for name, model in models.items()}
        tables.append(pd.DataFrame({"row": [fact.row for fact in facts], "offset": offset, **matches}))
    return pd.concat(tables, ignore_index=True)
