"""Show what a model reads and what it is to say: `python -m stages show --recipe quick --page 3`."""

import numpy as np

from stages.commands.models import add_draw_seed
from stages.corpus.example import PAD, Examples
from stages.corpus.objectives import Mixture
from stages.corpus.prepared import Prepared
from stages.corpus.questions import question_examples
from stages.corpus.text import Vocabulary
from stages.settings.params import load
from stages.system.errors import Parser, UserError, command, say
from stages.system.files import PREPARED

NO_LOSS = "·"  # in the place of a character that the model is not asked for


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
    prepared = Prepared.load(PREPARED / name)
    if not 1 <= given.page <= len(prepared.documents):
        raise UserError(f"--page: was {given.page}; allowed: 1 to {len(prepared.documents)}")

    generator = np.random.default_rng(given.draw_seed)
    draws = Mixture(prepared, recipe.pretrain.objectives, recipe.model.context).draws
    shown = {
        f"{objective}, page {given.page}": draw(np.array([given.page - 1]), generator)
        for objective, draw in draws.items()
    }
    questions, answers = prepared.questions["train"], prepared.answers["train"]
    if len(questions):
        shown["finetuning, question 1"] = question_examples(questions, answers, [0])
    lines = []
    for title, example in shown.items():
        lines += [title, *marked(prepared.vocabulary, example), ""]
    for line in lines[:-1]:
        say(line)


def marked(vocabulary: Vocabulary, examples: Examples) -> list[str]:
    """Show the first example: what is read, and below each character the next one where it carries loss."""
    length = int(examples.lengths[0])
    inputs, targets = examples.inputs[0, :length], examples.targets[0, :length]
    says = "".join(NO_LOSS if token == PAD else vocabulary.characters[token] for token in targets)
    return [f"  reads  {vocabulary.decode(inputs)}", f"  says   {says}"]
