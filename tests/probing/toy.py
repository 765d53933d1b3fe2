"""The invented corpus, with enough letters for names, and a model that has learned what a test wants it to."""

from collections.abc import Sequence
from functools import cache

import numpy as np
import pandas as pd
import torch
from torch.nn import functional as F

from stages.corpus.example import PAD, Examples
from stages.corpus.prepared import Prepared
from stages.corpus.questions import Question
from stages.model.gpt import GPT
from stages.probing.facts import Fact, dev_facts, texts
from stages.probing.forms import WordCue, asked_in_all_forms
from stages.settings import Objectives
from stages.sources.audit import audit
from tests.tiny import DOCUMENTS, HANDOUT, MODEL, QUESTIONS, SETTINGS, tiny_model

ALPHABET = "Abc. ABCDEFGHIJKLMNOPQRSTUVWXYZ abcdefghijklmnopqrstuvwxyz ?"
OBJECTIVES = Objectives(
    span_corruption=HANDOUT.pretrain.objectives.span_corruption.model_copy(
        update={"mixture_weight": 0.5, "longest_document": MODEL.context - 1}
    ),
    title_cloze=SETTINGS.recipes["quick"].pretrain.objectives.title_cloze.model_copy(update={"mixture_weight": 0.5}),
)
CUE = 10


@cache
def toy_prepared() -> Prepared:
    """The eight people in every split, and a page of letters."""
    unanswered = [Question(each.row, each.question, each.name, None) for each in QUESTIONS]
    return Prepared.of([*DOCUMENTS, ALPHABET], {"train": QUESTIONS, "dev": QUESTIONS, "test": unanswered})


def toy_audit() -> pd.DataFrame:
    """audit.tsv of the eight people."""
    return audit(DOCUMENTS, {"train": QUESTIONS, "dev": QUESTIONS}, toy_prepared().vocabulary)


def toy_facts() -> list[Fact]:
    """The eight facts."""
    return dev_facts(toy_prepared(), toy_audit(), texts(toy_prepared()))


@cache
def learned(forms: tuple[str, ...], steps: int = 150) -> GPT:
    """A tiny model that has learned the facts by heart, in these forms and in no others."""
    prepared = toy_prepared()
    asked = asked_in_all_forms(toy_facts(), OBJECTIVES, CUE, WordCue.of(OBJECTIVES, [], frozenset()), MODEL.context)
    rows = [prepared.vocabulary.encode(each.prompt + each.said) for form in forms for each in asked[form]]
    starts = [len(prepared.vocabulary.encode(each.prompt)) for form in forms for each in asked[form]]
    return fitted(rows, starts, steps)


def fitted(rows: Sequence[np.ndarray], starts: Sequence[int], steps: int) -> GPT:
    """A tiny model that has been taught to say each row from its start on."""
    batch = Examples.of_rows(rows, starts)
    inputs, targets = torch.from_numpy(batch.inputs), torch.from_numpy(batch.targets)
    model = tiny_model("vanilla", len(toy_prepared().vocabulary))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(steps):
        loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten(), ignore_index=PAD)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.eval()
