"""A trial: a changed recipe, trained once and asked the dev questions of a folder; what stays is its row."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from stages.corpus.phrases import Phrases
from stages.corpus.prepared import AUDIT, Prepared
from stages.experiment.experiment import Experiment
from stages.experiment.provenance import provenance
from stages.inference.answers import answers
from stages.probing.extraction import extraction
from stages.probing.prompts import PAGE_FORMS, WordCue, dev_facts, page_prompts
from stages.settings import Objectives
from stages.sources.audit import own_pages
from stages.system.digests import as_written
from stages.system.records import FACTS, read_record, read_table
from stages.training.jobs import finetuning, pretraining, pretrainings
from stages.training.run import Run, Training
from stages.trials.row import Row

Said = Mapping[str, str]  # a phrase of each page, by its title


def try_out(
    experiment: Experiment,
    change: str,
    data: Path,
    phrases: Phrases | None = None,
    objectives: Objectives | None = None,
    choosers: Mapping[str, Said] | None = None,
) -> Row:
    """Train the experiment's only seed on a folder of prepared questions, and ask its dev questions.

    phrases: what is practised, where it is not what the recipe says; objectives: whose word clozes the facts are asked
    in, where they are not the recipe's; choosers: whose phrases answers are compared with, beside the reader's.
    """
    prepared, (seed,) = Prepared.load(data), experiment.recipe.seeds
    first, second = pretraining(experiment, prepared, phrases), finetuning(experiment, prepared, "pretrained")
    settings = experiment.settings("pretrain", "finetune")
    run = Run("trial", experiment, prepared, settings | {"seed": seed, "change": change}, data)
    work, weights = run.work, run.work / "pretrained.safetensors"
    trainings = pretrainings(experiment, prepared, first, weights, seed)
    run.complete([*trainings, Training("finetuned", seed, second, weights)])

    training = read_record(work / "pretrained.json", FACTS)
    return Row(
        recipe=experiment.recipe_name,
        variant=experiment.variant,
        change=change,
        seed=seed,
        epochs=first.epochs,
        pretrain_loss=training["loss"],
        seconds=training["seconds"],
        provenance=provenance(settings, experiment.backend, training["seconds"]),
        **_asked(experiment, prepared, data, work, objectives or experiment.recipe.pretrain.objectives, choosers or {}),
    )


def _asked(
    experiment: Experiment,
    prepared: Prepared,
    data: Path,
    work: Path,
    objectives: Objectives,
    choosers: Mapping[str, Said],
) -> dict[str, Any]:
    """The marks of a row."""
    recipe, documents, dev = experiment.question_recipe, prepared.texts, prepared.of_split("dev")
    pages = own_pages(documents, set(dev.name))
    with as_written(known := data / "audit.tsv"):
        facts = dev_facts(prepared, read_table(known, AUDIT), pages)
    cue = WordCue.of(objectives, prepared)
    prompts = page_prompts(facts, PAGE_FORMS, objectives, cue, recipe.model.context)
    models = {
        name: experiment.trained_model(prepared, work / f"{name}.safetensors") for name in ("pretrained", "finetuned")
    }
    said = answers(models["finetuned"], prepared, "dev", recipe)
    right = said.set_index("row").correct.loc[[fact.row for fact in facts]].to_numpy(int)
    found = extraction(models, prepared.vocabulary, facts, prompts, right)
    memorised = found.set_index("row").pretrained_memorised.reindex(said.row)
    told = [*zip(dev.name, said.predicted, strict=True)]
    return {
        "correct": _marks(said.correct),
        "memorised": "".join("-" if np.isnan(each) else str(int(each)) for each in memorised),
        "of_own_page": _marks(bool(text) and any(text in page for page in pages.get(name, ())) for name, text in told),
        "says": {
            who: _marks(phrases.get(name) == text for name, text in told)
            for who, phrases in {"reader": prepared.likeliest(prepared.candidates), **choosers}.items()
        },
    }


def _marks(outcomes: Iterable[Any]) -> str:
    return "".join(str(int(each)) for each in outcomes)
