"""Let a pretrained model continue a text: `python -m stages sample --recipe text --variant vanilla --prompt "The "`.

Where its context is full, the model goes on from the last half context of the text.
"""

import argparse
from itertools import chain

from stages.asking.generation import Pick, Sampler, passages
from stages.commands.ask import lacking
from stages.commands.models import MAX_HYPOTHESES, add_draw_seed, add_model, load_trained
from stages.system.errors import Parser, UserError, command, quoted, say, tell, within

TEMPERATURE = 0.8  # the default of the draws
MOST_CHARACTERS = 100_000  # some minutes


@command
def main() -> None:
    """Print the prompt and what the model says after it."""
    parser = Parser(description=__doc__)
    add_model(parser)
    parser.add_argument("--prompt", default="\n", help="what the passage begins with; by default a new line")
    number = within(1, MOST_CHARACTERS)
    parser.add_argument("--characters", type=number, default=400, help="how many to say after it, 400 by default")
    parser.add_argument("--temperature", type=float, help=f"0: always the likeliest; {TEMPERATURE} by default")
    parser.add_argument("--top-k", type=int, help="draw from this many of the likeliest characters only")
    parser.add_argument("--top-p", type=float, help="draw from the fewest likeliest characters with this mass only")
    add_draw_seed(parser)
    width = within(1, MAX_HYPOTHESES)
    parser.add_argument("--beams", type=width, help="draw nothing: beam search with this many hypotheses")
    given = parser.parse_args()
    by = decoding(given)
    trained = load_trained("pretrain", given.recipe, given.variant, given.seed)
    model, vocabulary = trained.model, trained.prepared.vocabulary

    prompt = vocabulary.encode(given.prompt)
    if not len(prompt):
        raise UserError(f"--prompt: {quoted(given.prompt)} has no character that the corpus has")
    if note := lacking(vocabulary, given.prompt):
        tell(f"note: {note}")
    for (piece,) in chain([prompt[None]], passages(model, prompt[None], given.characters, by)):
        say(vocabulary.decode(piece), kept="\n\t", end="")
    print()


def decoding(given: argparse.Namespace) -> Pick | int:
    """Return what chooses the characters: a sampler, or the width of a beam.

    Raises UserError: an option is impossible, or does not go with --beams.
    """
    draws = {"--temperature": given.temperature, "--top-k": given.top_k, "--top-p": given.top_p}
    options = [option for option, value in draws.items() if value is not None]
    if given.beams and options:
        raise UserError(f"--beams draws nothing; allowed: it or {', '.join(options)}")
    temperature = TEMPERATURE if given.temperature is None else given.temperature
    return given.beams or Sampler(given.draw_seed, temperature, given.top_k, given.top_p)
