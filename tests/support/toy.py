"""The invented corpus, with enough letters for names, and a model that has learned what a test wants it to."""

from functools import cache

import torch
from torch.nn import functional as F

from stages.asking.prompts import PAGE_FORMS, Fact, Prompt, WordCue, dev_facts, page_prompts, question
from stages.corpus.example import PAD, Examples
from stages.corpus.prepared import Prepared
from stages.corpus.titles import pages_about
from stages.experiment.experiment import Experiment
from stages.model.gpt import GPT
from stages.settings.params import Objectives
from tests.support.tiny import BIRTHPLACES, DOCUMENTS, HANDOUT, MODEL, SETTINGS, SPLITS, tiny_model

ALPHABET = "Abc. ABCDEFGHIJKLMNOPQRSTUVWXYZ abcdefghijklmnopqrstuvwxyz ?"
OBJECTIVES = Objectives(
    span_corruption=HANDOUT.pretrain.objectives.span_corruption.model_copy(
        update={"mixture_weight": 0.5, "longest_document": MODEL.context - 1}
    ),
    title_cloze=SETTINGS.recipes["quick"].pretrain.objectives.title_cloze.model_copy(update={"mixture_weight": 0.5}),
)


def toy_experiment() -> Experiment:
    """The tiny shape, trained for the forms of OBJECTIVES, which says eight characters at most."""
    sections = {"model": MODEL, "pretrain.objectives": OBJECTIVES}
    of_recipe = {f"recipes.quick.{key}": section.model_dump() for key, section in sections.items()}
    others = {"recipes.quick.generation.max_characters": 8, "compute.device": "cpu", "compute.precision": "float32"}
    return Experiment.of(SETTINGS.changed(of_recipe | others), "quick", "vanilla")


@cache
def toy_prepared() -> Prepared:
    """The eight people in every split, and a page of letters."""
    return Prepared.of([*DOCUMENTS, ALPHABET], SPLITS)


def toy_facts() -> list[Fact]:
    """The eight facts."""
    prepared = toy_prepared()
    return dev_facts(prepared, pages_about(prepared.texts, BIRTHPLACES))


def toy_prompts() -> dict[str, list[Prompt]]:
    """The eight facts in all forms."""
    cue = WordCue.of(OBJECTIVES, toy_prepared())
    prompts = page_prompts(toy_facts(), PAGE_FORMS, OBJECTIVES, cue, MODEL.context)
    return {**prompts, "question": [question(fact) for fact in toy_facts()]}


@cache
def learned(forms: tuple[str, ...]) -> GPT:
    """A tiny model that has learned the facts by heart, in these forms and in no others."""
    vocabulary = toy_prepared().vocabulary
    prompts = [prompt for form in forms for prompt in toy_prompts()[form]]
    rows = [vocabulary.encode(prompt.text + prompt.target) for prompt in prompts]
    batch = Examples.of_rows(rows, [len(vocabulary.encode(prompt.text)) for prompt in prompts])
    inputs = torch.from_numpy(batch.inputs)
    targets = torch.from_numpy(batch.targets)
    model = tiny_model("vanilla", len(vocabulary))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(150):
        loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten(), ignore_index=PAD)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.eval()
