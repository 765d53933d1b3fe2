"""The article's models with the weights that the page holds: what they say in torch, which the page must say again."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from stages.article.models import ArticleModel, weights_of
from stages.article.stored import restored, stored
from stages.corpus.prepared import Prepared
from stages.corpus.question_forms import question_forms
from stages.corpus.vocabulary import MASK
from stages.experiment.experiment import Experiment
from stages.inference.answers import answers
from stages.jobs.job import Job
from stages.probing.extraction import exact_matches
from stages.probing.prompts import CHARACTERS, Fact, Prompt

# Ways to ask for a place. {page}: the page up to the place; {cue}: the last of it. A number of characters, those that a
# question has before the name, may come before the text: `shift` is how many do where nobody moves the name.
FORMS: dict[str, dict[str, Any]] = {
    "page": {"title": "the page’s own words", "sample": "NAME. … was born in", "text": "{page}", "shift": 0},
    "cloze": {"title": "fill the gap", "sample": "NAME … born in ⁇", "text": "{name} {cue}⁇", "shift": 0},
    "name_first": {
        "title": "name first",
        "sample": "NAME was born where?",
        "text": "{name} was born where?⁇",
        "shift": 0,
    },
    "question": {"title": "question", "sample": "Where was NAME born?", "text": "{name} born?⁇", "shift": 10},
}


def people_asked_about(
    prepared: Prepared, audit: pd.DataFrame, pages: Mapping[str, Sequence[str]]
) -> list[dict[Any, Any]]:
    """Return whom training and dev questions ask about: name, page, place, its position in the page, split."""
    table = prepared.table[prepared.table.split != "test"]
    people = table.merge(audit[["split", "row", "position"]], "left", ["split", "row"])
    people["page"] = [pages.get(name, [""])[0] for name in people.name]
    return people[["name", "page", "place", "position", "split"]].to_dict("records")


def prompts(prepared: Prepared, facts: Sequence[Fact]) -> dict[str, list[Prompt]]:
    """Return each fact in each of FORMS."""
    opening = question_forms(prepared)[0].before
    asked: dict[str, list[Prompt]] = {form: [] for form in FORMS}
    for fact, (form, how) in product(facts, FORMS.items()):
        page = fact.page[: fact.position]
        cue = page[max(len(fact.name) + 2, len(page) - CHARACTERS) :]
        text = opening[len(opening) - how["shift"] :] + how["text"].format(name=fact.name, page=page, cue=cue)
        asked[form].append(Prompt(text, fact.place + (MASK if text.endswith(MASK) else "")))
    return asked


def shown_model(model: ArticleModel, trial: Job, prepared: Prepared, facts: Sequence[Fact]) -> dict[str, Any]:
    """Return a model as the page holds it: stored weights, and what torch says with these."""
    experiment = Experiment.of(trial.params, trial.recipe, trial.variant)
    weights, about = weights_of(model, trial)
    gpt = experiment.trained_model(prepared, weights)
    recipe = experiment.question_recipe
    exact = answers(gpt, prepared, "dev", recipe)
    tensors = stored(gpt.state_dict())
    gpt.load_state_dict(restored(tensors))
    gpt.eval()

    answered = answers(gpt, prepared, "dev", recipe)
    matches = {form: exact_matches(gpt, prepared.vocabulary, asked) for form, asked in prompts(prepared, facts).items()}
    return {
        "title": model.title,
        "about": model.about,
        "variant": model.variant,
        "shape": recipe.model.model_dump(include={"layers", "heads", "width", "context"}),
        "theta": getattr(experiment.mixer, "theta", None),
        "trained_accuracy": 100 * float(exact.correct.mean()),
        "accuracy": 100 * float(answered.correct.mean()),
        "answers": answered.predicted.tolist(),
        "epochs": getattr(recipe.finetune, f"{model.init}_epochs"),
        "people": len(facts),
        "right": {form: 100 * float(np.mean(right)) for form, right in matches.items()},
        "completed": [fact.name for fact, right in zip(facts, matches["page"], strict=True) if right],
        "tensors": tensors,
        **about,
    }
