"""The article's models: which trainings of study `article` they are, how the page holds them, and what they say.

A matrix is held as int8 with a scale for each row, all else as float32. The page must say what torch says with these.
"""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from stages.asking.prompts import MOST_CHARACTERS, Fact, Prompt
from stages.asking.recall import answers, exact_matches
from stages.corpus.prepared import Prepared
from stages.corpus.text import MASK_CHARACTER
from stages.experiment.experiment import Experiment
from stages.jobs.job import WEIGHTS, Job
from stages.settings.params import Settings
from stages.system.errors import UserError
from stages.trials.jobs import job_of
from stages.trials.study.plan import Plan
from stages.trials.study.row import rows_file

LARGEST = 127  # an int8 holds it on both sides
STUDY = "article"
# Ways to ask for a place. {page}: the page up to the place; {cue}: the last of it. A number of characters, those that a
# question has before the name, may come before the text: `shift` is how many do where nobody moves the name.
WAYS: dict[str, dict[str, Any]] = {
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


def stored(weights: Mapping[str, Tensor]) -> dict[str, dict[str, str]]:
    """Each tensor as base64 of little-endian numbers: `values`, and for a matrix `scales`, one a row.

    A row's largest value becomes ±127, the others are rounded to the nearest of as many steps.
    """
    tensors = {}
    for name, tensor in weights.items():
        values = tensor.detach().float().cpu().numpy()
        if values.ndim == 1:
            tensors[name] = {"values": _text(values)}
            continue
        scales = np.maximum(np.abs(values).max(axis=1), np.finfo(np.float32).tiny) / LARGEST  # (D,)
        small = np.rint(values / scales[:, None]).astype(np.int8)  # (D, C)
        tensors[name] = {"values": _text(small), "scales": _text(scales)}
    return tensors


def _text(numbers: np.ndarray[Any, Any]) -> str:
    return base64.b64encode(numbers.tobytes()).decode("ascii")


def restored(tensors: Mapping[str, Mapping[str, str]]) -> dict[str, Tensor]:
    """Return what `stored` holds, as the page reads it: in float32."""
    weights = {}
    for name, tensor in tensors.items():
        values = np.frombuffer(base64.b64decode(tensor["values"]), "int8" if "scales" in tensor else "float32")
        if "scales" in tensor:
            scales = np.frombuffer(base64.b64decode(tensor["scales"]), "float32")
            values = values.reshape(len(scales), -1) * scales[:, None]
        weights[name] = torch.tensor(values)
    return weights


@dataclass(frozen=True)
class ArticleModel:
    """A model of the page."""

    change: str  # of the study
    title: str
    about: str
    variant: str = "rope"  # or vanilla: the page can compute no other mixer
    init: str = "pretrained"  # what was finetuned


MODELS = {
    "questions_only": ArticleModel("with_reader", "questions only", "read no page", init="scratch"),
    "pages_only_rope": ArticleModel("pages_only", "pages only", "each 300 times"),
    "pages_only_vanilla": ArticleModel("pages_only", "pages only", "another design, vanilla", "vanilla"),
    # more questions make it answer more, and forget some of what it could complete
    "pages_only_longer": ArticleModel("pages_only_longer", "pages only, longer", "60 rounds of questions, not 5"),
    "unaided": ArticleModel("unaided", "unaided", "trained on any phrase"),
    "with_reader": ArticleModel("with_reader", "helped by the reader", "trained on what it chose"),
}


def job_of_model(model: ArticleModel, params: Settings) -> Job:
    """Return the trial whose weights a model has. Raises UserError: it has not been carried out here."""
    plan = Plan(STUDY, params)
    cells = {(cell.change, cell.variant): cell for cell in plan.cells}
    job = job_of(plan, cells[model.change, model.variant])
    if job.result is None:
        run = f"rm {rows_file(STUDY)}; python -m stages.trials {STUDY}"
        raise UserError(f"the article's models are not trained here; run: {run}")
    return job


def people_asked_about(
    prepared: Prepared, audit: pd.DataFrame, pages: Mapping[str, Sequence[str]]
) -> list[dict[Any, Any]]:
    """Return whom training and dev questions ask about: name, page, place, its position in the page, split."""
    table = prepared.table[prepared.table.split != "test"]
    people = table.merge(audit[["split", "row", "position"]], "left", ["split", "row"])
    people["page"] = [pages.get(name, [""])[0] for name in people.name]
    return people[["name", "page", "place", "position", "split"]].to_dict("records")


def prompts(prepared: Prepared, facts: Sequence[Fact]) -> dict[str, list[Prompt]]:
    """Return each fact in each of WAYS."""
    opening = prepared.question_forms[0].before
    asked: dict[str, list[Prompt]] = {form: [] for form in WAYS}
    for fact, (form, how) in product(facts, WAYS.items()):
        page = fact.page[: fact.position]
        cue = page[max(len(fact.name) + 2, len(page) - MOST_CHARACTERS) :]
        text = opening[len(opening) - how["shift"] :] + how["text"].format(name=fact.name, page=page, cue=cue)
        asked[form].append(Prompt(text, fact.place + (MASK_CHARACTER if text.endswith(MASK_CHARACTER) else "")))
    return asked


def shown_model(model: ArticleModel, trial: Job, prepared: Prepared, facts: Sequence[Fact]) -> dict[str, Any]:
    """Return a model as the page holds it: stored weights, and what torch says with these."""
    experiment = Experiment.of(trial.params, trial.recipe_name, trial.variant)
    pretrained, finetuned = trial.inputs
    trainings = [pretrained.record["trainings"][WEIGHTS]] if model.init == "pretrained" else []
    trainings.append(finetuned.record["trainings"][model.init])
    gpt = experiment.trained_model(prepared, finetuned.result_folder / f"{model.init}.safetensors")
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
        "theta": getattr(experiment.mixer_settings, "theta", None),
        "trained_accuracy": 100 * float(exact.correct.mean()),
        "accuracy": 100 * float(answered.correct.mean()),
        "answers": answered.predicted.tolist(),
        "epochs": getattr(recipe.finetune, f"{model.init}_epochs"),
        "people": len(facts),
        "right": {form: 100 * float(np.mean(right)) for form, right in matches.items()},
        "completed": [fact.name for fact, right in zip(facts, matches["page"], strict=True) if right],
        "tensors": tensors,
        "commits": sorted({training["commit"] for training in trainings}),
        "device": trainings[-1]["device"],
        "parameters": trainings[-1]["parameters"],
    }
