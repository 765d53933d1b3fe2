"""A trial: a changed recipe, trained once and asked the dev questions of a folder; its row is the result."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from stages.corpus.phrases import Phrases
from stages.corpus.prepared import Prepared
from stages.experiment.experiment import Experiment
from stages.experiment.provenance import provenance
from stages.inference.answers import answers
from stages.jobs.job import work_folder
from stages.model.gpt import GPT
from stages.probing.extraction import extraction
from stages.probing.prompts import PAGE_FORMS, WordCue, dev_facts, page_prompts
from stages.settings import Objectives
from stages.sources.audit import own_pages
from stages.system.locks import locked
from stages.training.phases import epochs, trained_models
from stages.trials.row import Row, mark_string

CODE = ("access", "ablation", "corpus", "experiment", "model", "training", "trials")
Phrase = Mapping[str, str]  # a phrase of each page, by its title


def try_out(
    experiment: Experiment,
    change: str,
    data: Path,
    phrases: Phrases | None = None,
    objectives: Objectives | None = None,
    choosers: Mapping[str, Phrase] | None = None,
) -> Row:
    """Train the experiment's only seed on a folder of prepared questions, and ask its dev questions.

    phrases: what is practised instead of the recipe's own phrases; objectives: those whose word clozes ask for the
    facts, by default the recipe's; choosers: phrases that the answers are compared with, beside the reader's.
    """
    prepared = Prepared.load(data)
    (seed,) = experiment.recipe.seeds
    pretrain = experiment.recipe.pretrain
    settings = experiment.settings("pretrain", "finetune")
    named = f"trial-{experiment.recipe_name}-{experiment.variant}"
    code = (*CODE, f"mixers/{experiment.variant}.py")
    folder = work_folder(named, settings | {"seed": seed, "change": change}, code, data)
    with locked(folder / "lock"):
        models, training = trained_models(folder, experiment, prepared, seed, settings, phrases)
    return Row(
        recipe=experiment.recipe_name,
        variant=experiment.variant,
        change=change,
        seed=seed,
        epochs=epochs(pretrain, len(prepared.documents)) + (pretrain.own_epochs or 0),
        pretrain_loss=training["loss"],
        seconds=training["seconds"],
        provenance=provenance(settings, experiment.backend, training["seconds"]),
        **_asked(experiment, prepared, models, objectives or pretrain.objectives, choosers or {}),
    )


def _asked(
    experiment: Experiment,
    prepared: Prepared,
    models: dict[str, GPT],
    objectives: Objectives,
    choosers: Mapping[str, Phrase],
) -> dict[str, Any]:
    """Return the marks of a row: what the models answer, and what they have memorised."""
    recipe = experiment.question_recipe
    dev = prepared.of_split("dev")
    pages = own_pages(prepared.texts, set(dev.name))
    facts = dev_facts(prepared, pages)
    prompts = page_prompts(facts, PAGE_FORMS, objectives, WordCue.of(objectives, prepared), recipe.model.context)

    results = answers(models["finetuned"], prepared, "dev", recipe)
    right = results.set_index("row").correct.loc[[fact.row for fact in facts]].to_numpy(int)
    extracted = extraction(models, prepared.vocabulary, facts, prompts, right)
    memorised = extracted.set_index("row").pretrained_memorised.reindex(results.row)

    answered = [*zip(dev.name, results.predicted, strict=True)]
    agreements = {}
    for chooser, phrases in {"reader": prepared.likeliest(prepared.candidates), **choosers}.items():
        agreements[chooser] = mark_string(phrases.get(name) == answer for name, answer in answered)
    return {
        "correct": mark_string(results.correct),
        "memorised": "".join("-" if np.isnan(mark) else str(int(mark)) for mark in memorised),
        "of_own_page": mark_string(
            answer != "" and any(answer in page for page in pages.get(name, ())) for name, answer in answered
        ),
        "says": agreements,
    }
