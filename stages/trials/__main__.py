"""Train what a study lacks, add a row as each training ends, and write its page."""

from collections.abc import Sequence

from stages.jobs.executor import run_jobs, threads
from stages.jobs.job import ROW_FILE, Job
from stages.settings.params import load
from stages.system.errors import Parser, command
from stages.system.files import read_json
from stages.trials.jobs import in_turns, job_of
from stages.trials.study.page import write_study
from stages.trials.study.plan import Plan, WaitsError, studies
from stages.trials.study.row import Cell, Row, add_row


@command
def main() -> None:
    """Carry out a study: stages/trials/<study>.yaml."""
    parser = Parser(description=__doc__)
    parser.add_argument("study", help=f"the name of a file there: {', '.join(studies())}")
    parser.add_argument("--plan", action="store_true", help="check the file, and print what would be trained")
    parser.add_argument("--again", action="store_true", help="train also what has a row of other settings (†)")
    given = parser.parse_args()
    plan = Plan(given.study, load())
    missing = plan.missing(given.again)
    if given.plan:
        print_plan(plan, missing)
        return

    jobs: dict[str, Job] = {}
    cells: dict[str, list[Cell]] = {}  # by key: a sweep may have the recipe's own value
    for cell in in_turns(plan, missing):
        job = job_of(plan, cell)
        jobs[job.key] = job
        cells.setdefault(job.key, []).append(cell)

    def add(job: Job) -> None:
        measured = read_json(job.result_folder / ROW_FILE)
        for cell in cells[job.key]:
            add_row(plan.name, Row(**cell.model_dump(), settings=plan.digest(cell), **measured))

    for job in jobs.values():
        if job.result is not None:
            add(job)
    if any(job.result is None for job in jobs.values()):
        run_jobs(plan.name, [*jobs.values()], threads(), add)
    print(f"the page: {write_study(Plan(given.study, load()))}")


def print_plan(plan: Plan, missing: Sequence[Cell]) -> None:
    """Print the trainings that are missing. Raises UserError: the settings of a training are impossible."""
    waits = None
    for cell in plan.cells:
        try:
            plan.params_of(cell)
        except WaitsError as error:
            waits = error
    for cell in missing:
        words = [cell.change, cell.swept, cell.variant, cell.world and f"world {cell.world}", f"seed {cell.seed}"]
        print(" ".join(filter(None, words)))
    print(f"{len(plan.cells)} trainings, {len(missing)} to be done")
    if old := len(plan.missing(again=True)) - len(missing):
        print(f"note: {old} have a row of other settings than today's; --again trains them, too")
    if waits:
        print(f"note: {waits}")


if __name__ == "__main__":
    main()
