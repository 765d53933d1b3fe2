"""Train what a study lacks, add a row as each training ends, and write its page."""

from math import inf, isnan
from statistics import median

from stages.jobs.executor import complete, threads
from stages.jobs.job import ROW, Job
from stages.settings import load
from stages.system.errors import Parser, command
from stages.system.files import read_json
from stages.trials.jobs import in_turns, job_of
from stages.trials.study.page import write_study
from stages.trials.study.plan import Plan, studies
from stages.trials.study.row import Row, add_row


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
        cell = cells[job.key]
        measured = read_json(job.result_folder / ROW)
        add_row(plan.name, Row(**cell.model_dump(), settings=plan.digest(cell), **measured))

    for job in jobs:
        if job.result is not None:
            add(job)
    if left := [job for job in jobs if job.result is None]:
        complete(plan.name, jobs, left, threads(), add, given.hours)
    write_study(Plan(given.study, load()))


def print_plan(plan: Plan) -> None:
    """Print the cells without a row, and how long they take, judged by the rows that are there."""
    missing = plan.missing
    for cell in missing:
        print(
            " ".join(map(str, filter(None, [cell.change, cell.swept, cell.variant, cell.world, f"seed {cell.seed}"])))
        )
    print(f"{len(plan.cells)} cells, {len(missing)} without a row of today's settings")
    timed = [row for row in plan.rows.values() if not isnan(row.seconds)]
    by_variant = {name: [row.seconds for row in timed if row.variant == name] for name in plan.study.variants}
    known = [row.seconds for row in timed]
    if missing and known:
        hours = sum(median(by_variant.get(cell.variant) or known) for cell in missing) / 3600
        print(f"about {hours:.1f} hours of one core, by the rows that are there")


if __name__ == "__main__":
    main()
