"""The jobs of a study's cells, and the data that they read."""

from pathlib import Path

from stages.corpus.prepared import Prepared
from stages.data import obtain
from stages.experiment.provenance import KEY_DIGITS, traits
from stages.jobs.job import Job, code_digest
from stages.prepare import prepare
from stages.settings.params import QuestionRecipe, Settings
from stages.sources.pairs import SOME, draw_pairs, people_for, prepared_pairs
from stages.system.files import WORK, digest, files_digest, locked, new_folder
from stages.trials.study.plan import Plan
from stages.trials.study.row import Cell

CODE = ("corpus", "sources", "data.py", "prepare.py")  # that prepared data depend on
PATIENCE = 600.0  # seconds: another study may be making the same data


def in_turns(plan: Plan, cells: list[Cell]) -> list[Cell]:
    """Sort cells so that those which build on one pretraining do not stand side by side: the second would wait."""
    seen: dict[str, int] = {}
    turns = {}
    for cell in cells:
        params = plan.params_of(cell)
        recipe = params.recipe_named(plan.study.recipe)
        shared = digest([recipe.pretrain.model_dump(), recipe.model.model_dump(), cell.variant, cell.world, cell.seed])
        turns[cell] = seen[shared] = seen.get(shared, 0) + 1
    return sorted(cells, key=lambda cell: turns[cell])


def job_of(plan: Plan, cell: Cell) -> Job:
    """Return the job of a cell; its data are made where they are not there."""
    params, name = plan.params_of(cell), plan.study.recipe
    stage = "trial" if isinstance(params.recipe_named(name), QuestionRecipe) else "pretrain_trial"
    data = data_of(params, name, cell.variant)
    return Job(stage, params, name, cell.variant, cell.seed, data, tuple(traits(params.compute)))


def data_of(params: Settings, name: str, variant: str) -> Path:
    """Return the folder of a recipe's prepared data below work/, made unless it was.

    variant: for source `pairs` it decides how many pairs there are. Raises UserError: a file is missing or faulty.
    """
    recipe, sources = params.recipe_named(name), params.sources
    source = recipe.data.source
    depends_on = [recipe.data.model_dump(), recipe.model.context, getattr(sources, source).model_dump()]
    depends_on += [sources.synthetic.model_dump(), code_digest(*CODE)]
    if source == "pairs":
        depends_on += [recipe.model.model_dump(), variant, params.variants[variant]]
        depends_on += [code_digest("model", f"mixers/{variant}.py")]
    if source in ("own", "text"):
        depends_on += [files_digest(file.parent, [file]) for file in getattr(sources, source).files()]
    folder = WORK / f"data-{name}-{digest(depends_on)[:KEY_DIGITS]}"
    prepared = folder / "prepared"
    with locked(WORK / f"{folder.name}.lock", PATIENCE):
        if not prepared.is_dir() and source == "pairs":
            with new_folder(prepared) as new:
                pairs_for(params, name, variant).save(new)
        elif not prepared.is_dir():
            obtain(params, name, folder / "raw")
            prepare(recipe, name, folder / "raw", prepared)
    return prepared


def pairs_for(params: Settings, name: str, variant: str) -> Prepared:
    """Draw as many pairs as a variant's model is to store by the source's load.

    Names are characters for this count even where they are one token, so that the control asks the same people.
    """
    from stages.experiment.experiment import Experiment  # it loads torch

    settings = params.sources.pairs
    some = prepared_pairs(draw_pairs(SOME, settings.seed), token=False)
    people = people_for(settings, Experiment.of(params, name, variant).parameters(some))
    return prepared_pairs(draw_pairs(people, settings.seed), settings.token)
