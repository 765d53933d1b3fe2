"""The article's models: which trainings of study `article` they are, and what the page calls them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stages.jobs.job import Job
from stages.settings import Settings
from stages.system.errors import StudyError
from stages.trials.jobs import job_of
from stages.trials.study.plan import Plan

STUDY = "article"


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


def trial_of(model: ArticleModel, params: Settings) -> Job:
    """Return the trial whose weights a model has. Raises StudyError: it has not been carried out here."""
    plan = Plan(STUDY, params)
    cells = {(cell.change, cell.variant): cell for cell in plan.cells}
    job = job_of(plan, cells[model.change, model.variant])
    if job.result is None:
        raise StudyError(f"the article's models are not trained here; run: python -m stages.trials {STUDY}")
    return job


def weights_of(model: ArticleModel, trial: Job) -> tuple[Path, dict[str, Any]]:
    """Return the file of a model's weights, and facts on its training."""
    pretrained, finetuned = trial.inputs
    trainings = [pretrained.facts["trainings"]["weights"]] if model.init == "pretrained" else []
    trainings.append(finetuned.facts["trainings"][model.init])
    commits = sorted({training["commit"] for training in trainings})
    about = {"commits": commits, "device": trainings[-1]["device"], "parameters": trainings[-1]["parameters"]}
    return finetuned.result_folder / f"{model.init}.safetensors", about
