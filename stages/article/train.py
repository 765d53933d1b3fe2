"""The article's models: the data of its recipe, and each model trained and asked the dev questions."""

from pathlib import Path
from typing import Any

from stages.corpus.prepared import Prepared
from stages.data import obtain
from stages.experiment.experiment import Experiment
from stages.experiment.provenance import provenance
from stages.inference.answers import answers
from stages.jobs.job import work_folder
from stages.prepare import prepare
from stages.settings import Settings
from stages.system.locks import WORK, locked
from stages.training.phases import finetuning, pretrain
from stages.training.run import train_to

CODE = ("article/train.py", "corpus", "experiment", "model", "training")


def article_data(params: Settings) -> Path:
    """Make the prepared data of the article's recipe, and return their folder."""
    name = params.article.recipe
    raw, prepared = WORK / "article" / "raw", WORK / "article" / "prepared"
    obtain(params, name, raw)
    prepare(params.recipe_named(name), raw, prepared)
    return prepared


def trained(name: str, params: Settings, prepared: Prepared, data: Path) -> tuple[Path, dict[str, Any]]:
    """Train a model of section `article`, unless an earlier run did, and ask it: its weights, and facts on it."""
    model, seed = params.article.models[name], params.article.seed
    experiment = Experiment.of(params.of_article(name), params.article.recipe, model.variant)
    settings = experiment.settings("pretrain", "finetune")
    code = (*CODE, f"mixers/{model.variant}.py")
    folder = work_folder(f"article-{name}", settings | {"seed": seed, "init": model.init}, code, data)
    first, weights = None, folder / "finetuned.safetensors"
    with locked(folder / "lock"):
        parts = []
        if model.init == "pretrained":
            first = folder / "pretrained.safetensors"
            parts.append(pretrain(first, experiment, prepared, seed, settings))
        phase = finetuning(experiment, prepared, model.init)
        parts.append(train_to(weights, experiment, prepared, phase, seed, settings, first))

    answered = answers(experiment.trained_model(prepared, weights), prepared, "dev", experiment.question_recipe)
    facts = {
        "accuracy": 100 * float(answered.correct.mean()),  # percent of the dev questions
        **provenance(settings, experiment.backend, sum(part["seconds"] for part in parts)),
        "parameters": parts[0]["parameters"],
        "commits": sorted({part["commit"] for part in parts}),
    }
    return weights, facts
