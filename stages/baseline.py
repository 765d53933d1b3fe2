"""Stage `baseline`: what a constant answer scores, and what could be known at best."""

from pathlib import Path

from stages.corpus.prepared import Prepared, read_table
from stages.inference.scoring import constant_baseline
from stages.settings import load
from stages.system.digests import result_folder
from stages.system.errors import Parser, StudyError, command
from stages.system.files import write_json


@command
def main() -> None:
    """Score the constant answer of a recipe on dev."""
    parser = Parser(prog="python -m stages.baseline", description=main.__doc__)
    parser.add_argument("--recipe", required=True)
    arguments = parser.parse_args()
    recipe = load().question_recipe(arguments.recipe)
    source = Path("data/prepared") / arguments.recipe
    if not source.is_dir():
        raise StudyError(f"{source} is missing; `dvc repro` makes it")
    result = constant_baseline(Prepared.load(source).table, read_table(source / "audit.tsv"), recipe.baseline.place)
    result |= {"held_out": recipe.data.held_out}
    with result_folder(Path("data/evaluations") / arguments.recipe / "baseline") as folder:
        write_json(folder / "baseline.json", result)
    print(f"{result['place']}: {result['dev_correct']} of {result['dev_questions']} dev = {result['dev_accuracy']} %")


if __name__ == "__main__":
    main()
