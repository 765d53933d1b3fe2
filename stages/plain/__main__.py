"""Train one variant on recipe `quick` and answer its dev questions: `python -m stages.plain --variant rope`."""

import time
from operator import attrgetter

import numpy as np
import torch

from stages.corpus.example import Examples
from stages.corpus.objectives import Mixture
from stages.corpus.prepared import Prepared
from stages.corpus.questions import question_examples, question_prompt
from stages.plain.attention import MIXERS
from stages.plain.generation import answer
from stages.plain.model import PlainGPT
from stages.plain.training import Phase, train
from stages.settings.params import PARAMS, QuestionRecipe, load
from stages.settings.section import LARGEST_SEED
from stages.system.errors import Parser, UserError, command, within
from stages.system.files import PREPARED

RECIPE = "quick"
# What the plain model does in one way alone, by setting of the recipe
FIXED = {
    "model.expansion": 4,
    "pretrain.shuffled": True,
    "pretrain.least_steps": None,
    "pretrain.self_training_epochs": None,
}
FIXED |= {"finetune.shuffled": True, "finetune.starter_code": False, "finetune.moved_positions": 0}


def pretraining(recipe: QuestionRecipe, prepared: Prepared, epochs: int) -> Phase:
    """Make the phase in which the model reads the pages."""
    context = recipe.model.context
    draw = Mixture(prepared, recipe.pretrain.objectives, context).draw
    return Phase("pretrain", draw, len(prepared.documents), epochs, recipe.pretrain, context)


def finetuning(recipe: QuestionRecipe, prepared: Prepared) -> Phase:
    """Make the phase in which the model learns what a question is, from the training questions."""
    questions, answers = prepared.questions["train"], prepared.answers["train"]

    def draw(rows: np.ndarray, _: np.random.Generator) -> Examples:
        return question_examples(questions, answers, rows)

    settings = recipe.finetune
    return Phase("finetune", draw, len(questions), settings.pretrained_epochs, settings, recipe.model.context)


def accuracy(model: PlainGPT, prepared: Prepared, max_characters: int) -> float:
    """Share of the dev questions that the model answers to the character, in percent."""
    questions, answers = prepared.questions["dev"], prepared.answers["dev"]
    right = 0
    for row in range(len(questions)):
        predicted, _ = answer(model, question_prompt(questions[row]).tolist(), max_characters)
        right += predicted == answers[row].tolist()
    return 100 * right / len(questions)


@command
def main() -> None:
    """Train a variant on recipe quick by the plain model, and print its accuracy on dev."""
    parser = Parser(main.__doc__)
    parser.add_argument("--variant", choices=[*MIXERS], default="rope")
    parser.add_argument("--seed", type=within(0, LARGEST_SEED), default=1)
    parser.add_argument("--epochs", type=within(1, 10**6), help="passes over the pages, in place of the recipe's")
    options = parser.parse_args()
    settings = load()
    settings.check_variant(options.variant)
    recipe = settings.question_recipe(RECIPE)
    for key, value in FIXED.items():
        if (given := attrgetter(key)(recipe)) != value:
            raise UserError(f"{PARAMS}: recipes.{RECIPE}.{key}: was {given}; the plain model knows {value} alone")
    prepared = Prepared.load(PREPARED / RECIPE)
    started = time.monotonic()

    torch.manual_seed(options.seed)
    generator = np.random.default_rng(options.seed)
    size = len(prepared.vocabulary)
    model = PlainGPT(options.variant, size, recipe.model, settings.variants[options.variant])
    pretrain = pretraining(recipe, prepared, options.epochs or recipe.pretrain.epochs)
    for phase in (pretrain, finetuning(recipe, prepared)):
        train(model, phase, recipe.optimizer, generator)

    right = accuracy(model.eval(), prepared, recipe.generation.max_characters)
    place = recipe.baseline.place or prepared.of_split("train").place.mode()[0]
    constant = 100 * float((prepared.of_split("dev").place == place).mean())
    seconds = time.monotonic() - started
    print(f"{options.variant}: {right:.1f} % of dev; always {place}: {constant:.1f} %; {seconds:.0f} s")


if __name__ == "__main__":
    main()
