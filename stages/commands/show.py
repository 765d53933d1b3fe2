"""Show what a model reads and what it is to say: `python -m stages show --recipe quick --page 3`."""

from pathlib import Path

from stages.commands.models import add_draw_seed
from stages.corpus.prepared import Prepared
from stages.corpus.shown import shown
from stages.settings import load
from stages.system.errors import Parser, StudyError, command, say


@command
def main() -> None:
    """Print an example that each objective draws from a page, and a training question."""
    parser = Parser(description=main.__doc__)
    parser.add_argument("--recipe", help="by default that of params.yaml")
    parser.add_argument("--page", type=int, default=1, help="line of the page in the corpus, 1 by default")
    add_draw_seed(parser)
    given = parser.parse_args()
    settings = load()
    name = given.recipe or settings.recipe
    recipe = settings.recipe_named(name)
    folder = Path("data/prepared") / name
    if not folder.exists():
        raise StudyError(f"{folder} is missing; make it with: dvc exp run prepare -S recipe={name}")
    for line in shown(Prepared.load(folder), recipe, [given.page], given.draw_seed):
        say(line)
