"""Enter a variant in the comparison of a recipe: write data/compared/<recipe>/<variant>.json.

The report `compared` depends on that folder, so it waits for the entries of study.compared and for no other variant.
An entry holds the hash of the evaluation: when that changes, the report is written anew.
"""

from pathlib import Path

from stages.system.errors import Parser, command
from stages.system.files import folder_hash, write_json


@command
def main() -> None:
    """Enter a variant in the comparison of a recipe."""
    parser = Parser(prog="python -m stages.compare", description=main.__doc__)
    parser.add_argument("--recipe", required=True)
    parser.add_argument("--variant", required=True)
    given = parser.parse_args()
    data = Path("data")
    evaluation = folder_hash(data / "evaluations" / given.recipe / given.variant)
    write_json(data / "compared" / given.recipe / f"{given.variant}.json", {"evaluation": evaluation})


if __name__ == "__main__":
    main()
