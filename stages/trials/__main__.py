"""Train what a study lacks, add a row as each training ends, and write its page."""

from math import inf
from pathlib import Path
from statistics import median

from stages.data import obtain
from stages.experiment.traits import traits
from stages.jobs.executor import complete, threads
from stages.jobs.job import Job, code_digest
from stages.prepare import prepare
from stages.settings import QuestionRecipe, Settings, load
from stages.system.digests import digest
from stages.system.errors import Parser, command
from stages.system.locks import WORK
from stages.trials.page import write_study
from stages.trials.row import Cell, add_row
from stages.trials.study import Plan, studies

CODE = ("corpus", "sources", "data.py", "prepare.py")


@command
def main() -> None:
    """Carry out a study: stages/trials/<study>.yaml."""
    parser = Parser(description=__doc__)
    parser.add_argument("study", choices=studies())
    parser.add_argument("--plan", action="store_true", help="print the cells and about how long they take")
    parser.add_argument("--hours", type=float, default=inf, help="begin no training after so many")
    given = parser.parse_args()
    plan = Plan(given.study, load())
    if given.plan:
        print_plan(plan)
        return

    cells = {}
    jobs = []
    for cell in in_turns(plan, plan.missing):
        job = job_of(plan, cell)
        jobs.append(job)
        cells[job.key] = cell

    def add(job: Job) -> None:
        from stages.trials.trial import row_of  # it loads torch

        cell = cells[job.key]
        add_row(plan.name, row_of(job, **cell.model_dump(), settings=plan.digest(cell)))

    for job in jobs:
        if job.result is not None:
            add(job)
    if left := [job for job in jobs if job.result is None]:
        complete(plan.name, jobs, left, threads(), add, given.hours)
    write_study(Plan(given.study, load()))


def print_plan(plan: Plan) -> None:
    """Print how many cells a study has, which lack a row, and how long these take on a machine like that of the rows."""
    missing = plan.missing
    for cell in missing:
        print(" ".join(map(str, filter(None, [cell.change, cell.swept, cell.variant, cell.world, f"seed {cell.seed}"]))))
    print(f"{len(plan.cells)} cells, {len(missing)} without a row of today's settings")
    by_variant = {variant: [row.seconds for row in plan.rows.values() if row.variant == variant] for variant in plan.study.variants}
    known = [seconds for of_variant in by_variant.values() for seconds in of_variant]
    if missing and known:
        hours = sum(median(by_variant.get(cell.variant) or known) for cell in missing) / 3600
        print(f"about {hours:.1f} hours of one core, by the rows that are there")


def in_turns(plan: Plan, cells: list[Cell]) -> list[Cell]:
    """Sort cells so that those which build on one pretraining do not stand side by side: the second would wait."""
    seen: dict[str, int] = {}
    turns = {}
    for cell in cells:
        params = plan.settings(cell)
        recipe = params.recipe_named(plan.study.recipe)
        shared = digest([recipe.pretrain.model_dump(), recipe.model.model_dump(), cell.variant, cell.world, cell.seed])
        turns[cell] = seen[shared] = seen.get(shared, 0) + 1
    return sorted(cells, key=lambda cell: turns[cell])


def job_of(plan: Plan, cell: Cell) -> Job:
    """Return the job of a cell; its data are made where they are not there."""
    params, name = plan.settings(cell), plan.study.recipe
    recipe = params.recipe_named(name)
    stage = "trial" if isinstance(recipe, QuestionRecipe) else "text_trial"
    return Job(stage, params, name, cell.variant, cell.seed, data_of(params, name), tuple(traits(params.compute)))


def data_of(params: Settings, name: str) -> Path:
    """Return the folder of a recipe's prepared data below work/, made unless it was."""
    recipe = params.recipe_named(name)
    sources = params.sources
    depends_on = [recipe.data.model_dump(), recipe.model.context, getattr(sources, recipe.data.source).model_dump()]
    depends_on += [sources.synthetic.model_dump(), code_digest(*CODE)]
    folder = WORK / f"data-{name}-{digest(depends_on)[:16]}"
    if not (folder / "prepared").is_dir():
        obtain(params, name, folder / "raw")
        prepare(recipe, name, folder / "raw", folder / "prepared")
    return folder / "prepared"


if __name__ == "__main__":
    main()
