"""Show what a model reads and what it is to say: `python -m stages.show --recipe quick --page 3`."""

from pathlib import Path

import numpy as np

from stages.corpus.example import PAD, Examples
from stages.corpus.objectives import Mixture
from stages.corpus.prepared import Prepared
from stages.corpus.questions import question_examples
from stages.corpus.vocabulary import Vocabulary
from stages.settings import Recipe, load
from stages.system.errors import Parser, StudyError, command
from stages.system.terminal import harmless

NO_LOSS = "·"  # in the place of a character that the model is not asked for


@command
def main() -> None:
    """Print an example that each objective draws from a page, and a training question."""
    parser = Parser(description=main.__doc__)
    parser.add_argument("--recipe", help="by default that of params.yaml")
    parser.add_argument("--page", type=int, default=1, help="line of the page in the corpus, 1 by default")
    parser.add_argument("--draw-seed", type=int, default=1, help="seed of what is masked, 1 by default")
    given = parser.parse_args()
    settings = load()
    name = given.recipe or settings.recipe
    recipe = settings.recipe_named(name)
    folder = Path("data/prepared") / name
    if not folder.exists():
        raise StudyError(f"{folder} is missing; make it with: dvc repro stages/dvc.yaml:prepare@{name}")
    if given.draw_seed < 0:
        raise StudyError(f"--draw-seed: was {given.draw_seed}; allowed: 0 or more")
    print(*map(harmless, shown(Prepared.load(folder), recipe, [given.page], given.draw_seed)), sep="\n")


def shown(prepared: Prepared, recipe: Recipe, pages: list[int], draw_seed: int = 1) -> list[str]:
    """The lines that show an example of each objective from each of the pages (1-based), and a training question.

    Raises StudyError: there is no such page.
    """
    if not all(1 <= page <= len(prepared.documents) for page in pages):
        raise StudyError(f"--page: was {pages[0]}; allowed: 1 to {len(prepared.documents)}")
    objectives, generator = recipe.pretrain.objectives, np.random.default_rng(draw_seed)
    names = [name for name, objective in objectives if objective]  # in the order of a mixture's draws
    draws = Mixture(prepared, objectives, recipe.model.context).draws
    lines = []
    for page in pages:
        for name, draw in zip(names, draws, strict=True):
            lines += [f"{name}, page {page}", *_marked(prepared.vocabulary, draw(np.array([page - 1]), generator)), ""]
    if len(prepared.questions["train"]):
        first = question_examples(prepared.questions["train"], prepared.answers["train"], np.array([0]))
        lines += ["finetuning, question 1", *_marked(prepared.vocabulary, first), ""]
    return lines[:-1]


def _marked(vocabulary: Vocabulary, examples: Examples) -> list[str]:
    """The first example: what is read, and below each character the next one where it carries loss."""
    length = int(examples.lengths[0])
    read, wanted = examples.inputs[0, :length], examples.targets[0, :length]
    said = "".join(NO_LOSS if token == PAD else vocabulary.decode(np.array([token])) for token in wanted)
    return [f"  reads  {vocabulary.decode(read)}", f"  says   {said}"]


if __name__ == "__main__":
    main()
