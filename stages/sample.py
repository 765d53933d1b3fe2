"""Let a pretrained model go on with a text: `python -m stages.sample --recipe text --prompt "The "`.

Where the model's context is full, it goes on from the last half context of the text.
"""

import argparse
import sys

from stages.corpus.reading import harmless, quoted
from stages.errors import StudyError, command
from stages.inference.asking import lacking
from stages.inference.decoding import Sampler
from stages.inference.generation import likeliest_passage, passage
from stages.inference.options import add_decoding, sampling
from stages.inference.trained import chosen_seed, chosen_variant, load_trained
from stages.settings import load
from stages.training.experiment import Experiment

TEMPERATURE = 0.8  # of the draws, by default


@command
def main() -> None:
    """Print the prompt and what the model says after it."""
    parser = argparse.ArgumentParser(prog="python -m stages.sample", description=__doc__)
    parser.add_argument("--recipe", help="by default the selection of params.yaml")
    parser.add_argument("--variant", help="by default the selection of params.yaml; of `all` the best on dev")
    parser.add_argument("--seed", type=int, help="which training's model; by default the recipe's first seed")
    parser.add_argument("--prompt", default="\n", help="what the passage begins with; by default a new line")
    parser.add_argument("--characters", type=int, default=400, help="how many to say after it, 400 by default")
    add_decoding(
        parser,
        temperature=f"0: always the likeliest; {TEMPERATURE} by default",
        beams="draw nothing: the likeliest passage that so many lines lead to",
    )
    parser.add_argument("--draw-seed", type=int, default=1, help="another one, another passage; 1 by default")
    given = parser.parse_args()
    if given.characters < 1:
        raise StudyError(f"--characters: was {given.characters}; allowed: 1 or more")
    if given.draw_seed < 0:
        raise StudyError(f"--draw-seed: was {given.draw_seed}; allowed: 0 or more")
    chance = sampling(given, TEMPERATURE)
    settings = load()
    recipe = given.recipe or settings.recipe
    settings.recipe_named(recipe)
    experiment = Experiment.of(settings, recipe, given.variant or chosen_variant(settings, recipe, "pretrain"))
    prepared, model = load_trained(experiment, "pretrain", f"seed-{chosen_seed(experiment, given.seed)}")
    vocabulary = prepared.vocabulary
    prompt = vocabulary.encode(given.prompt)
    if not len(prompt):
        raise StudyError(f"--prompt: {quoted(given.prompt)} has no character that the corpus has")
    if note := lacking(vocabulary, given.prompt):
        print(f"note: {note}", file=sys.stderr)
    if chance is None:
        said = likeliest_passage(model, prompt, given.characters, given.beams)
    else:
        said = passage(model, prompt, given.characters, Sampler(chance, given.draw_seed))
    text = vocabulary.decode([*prompt, *said])
    print("".join(letter if letter in "\n\t" else harmless(letter) for letter in text))


if __name__ == "__main__":
    main()
