"""Train what a study lacks, add a row as each training ends, and write its page."""

from contextlib import suppress
from math import ceil, inf
from statistics import median

from stages.jobs.executor import complete, threads
from stages.jobs.job import ROW_FILE, Job
from stages.settings import Settings, load
from stages.system.errors import Parser, UserError, command
from stages.system.files import read_json
from stages.trials.cells import in_turns, job_of
from stages.trials.study.page import write_study
from stages.trials.study.plan import Plan, WaitsError, studies
from stages.trials.study.row import Row, add_row


@command
def main() -> None:
    """Carry out a study: stages/trials/<study>.yaml."""
    parser = Parser(description=__doc__)
    parser.add_argument("study", help=f"the name of a file there: {', '.join(studies())}")
    parser.add_argument("--plan", action="store_true", help="print the trainings and about how long they take")
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
        cell = cells[job.key]
        measured = read_json(job.result_folder / ROW_FILE)
        add_row(plan.name, Row(**cell.model_dump(), settings=plan.digest(cell), **measured))

    for job in jobs:
        if job.result is not None:
            add(job)
    if left := [job for job in jobs if job.result is None]:
        complete(plan.name, jobs, left, threads(), add, given.hours)
    print(f"the page: {write_study(Plan(given.study, load()))}")


def print_plan(plan: Plan) -> None:
    """Print the trainings without a row, and how long they take, judged by rows of the same recipe.

    Raises UserError: the settings of one are impossible.
    """
    waits = None
    epochs = {}
    for cell in plan.cells:
        try:
            epochs[cell] = epochs_of(plan.settings(cell), plan.study.recipe)
        except WaitsError as error:
            waits = error
    missing = plan.missing
    for cell in missing:
        words = [cell.change, cell.swept, cell.variant, cell.world and f"world {cell.world}", f"seed {cell.seed}"]
        print(" ".join(filter(None, words)))
    print(f"{len(plan.cells)} trainings, {len(missing)} without a row of today's settings")
    if waits:
        print(f"note: {waits}")
    an_epoch = seconds_an_epoch(plan)
    if missing and not waits and an_epoch:
        usual = median(an_epoch.values())
        hours = sum(epochs[cell] * an_epoch.get(cell.variant, usual) for cell in missing) / 3600
        duration = f"{hours:.1f} hours" if hours >= 1 else f"{ceil(60 * hours)} minutes"
        print(f"about {duration} of one core, by rows of recipe {plan.study.recipe}")
    elif missing:
        print("nobody has measured how long that takes")


def epochs_of(params: Settings, name: str) -> float:
    """Return the epochs of a recipe, those that its least steps take included where its data are generated."""
    recipe, world = params.recipe_named(name), params.sources.synthetic
    if recipe.data.source != "synthetic":
        return recipe.pretrain.epochs
    pages = world.pages * (world.people.train + world.people.dev + world.people.test)
    in_steps = (recipe.pretrain.least_steps or 0) / ceil(pages / recipe.pretrain.batch_size)
    return max(recipe.pretrain.epochs, in_steps) * world.pages


def seconds_an_epoch(plan: Plan) -> dict[str, float]:
    """Return the median seconds an epoch by variant: of the study's rows, else of all rows of its recipe."""
    rows = [*plan.rows.values()]
    if not any(row.seconds > 0 and row.epochs for row in rows):
        rows = []
        for name in studies():
            with suppress(UserError):  # a faulty file of another study is no matter of this one
                other = Plan(name, plan.params)
                rows += other.rows.values() if other.study.recipe == plan.study.recipe else []
    by_variant: dict[str, list[float]] = {}
    for row in rows:
        if row.seconds > 0 and row.epochs:
            by_variant.setdefault(row.variant, []).append(row.seconds / row.epochs)
    return {variant: median(seconds) for variant, seconds in by_variant.items()}


if __name__ == "__main__":
    main()
