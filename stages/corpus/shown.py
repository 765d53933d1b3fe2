"""What a model reads and what it is to say, for people to look at."""

import numpy as np

from stages.corpus.example import PAD, Examples
from stages.corpus.objectives import Mixture
from stages.corpus.prepared import Prepared
from stages.corpus.questions import question_examples
from stages.corpus.text import Vocabulary
from stages.settings import Recipe
from stages.system.errors import StudyError

NO_LOSS = "·"  # in the place of a character that the model is not asked for


def shown(prepared: Prepared, recipe: Recipe, pages: list[int], draw_seed: int = 1) -> list[str]:
    """Show in lines an example of each objective from each of the pages (1-based), and a training question.

    Raises StudyError: there is no such page.
    """
    if not all(1 <= page <= len(prepared.documents) for page in pages):
        raise StudyError(f"--page: was {pages[0]}; allowed: 1 to {len(prepared.documents)}")
    objectives = recipe.pretrain.objectives
    generator = np.random.default_rng(draw_seed)
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
    """Show the first example: what is read, and below each character the next one where it carries loss."""
    length = int(examples.lengths[0])
    inputs, targets = examples.inputs[0, :length], examples.targets[0, :length]
    says = "".join(NO_LOSS if token == PAD else vocabulary.characters[token] for token in targets)
    return [f"  reads  {vocabulary.decode(inputs)}", f"  says   {says}"]
