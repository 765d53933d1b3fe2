"""How a command line says which model is meant, and what chooses the next character: a beam, or chance."""

import argparse

from stages.inference.decoding import Sampler, Sampling
from stages.settings import MAX_HYPOTHESES
from stages.system.errors import StudyError

OF_DRAWS = ("temperature", "top_k", "top_p")


def add_model(parser: argparse.ArgumentParser) -> None:
    """Add --recipe, --variant and --seed."""
    parser.add_argument("--recipe", help="by default the selection of params.yaml")
    parser.add_argument("--variant", help="by default the selection of params.yaml; of `all` the best on dev")
    parser.add_argument("--seed", type=int, help="which training's model; by default the recipe's first seed")


def add_decoding(parser: argparse.ArgumentParser, temperature: str, beams: str) -> None:
    """Add --temperature, --top-k, --top-p, --draw-seed and --beams; texts: help of the two whose sense differs."""
    parser.add_argument("--temperature", type=float, help=temperature)
    parser.add_argument("--top-k", type=int, help="draw from the so many likeliest characters only")
    parser.add_argument("--top-p", type=float, help="draw from the fewest likeliest characters with this mass only")
    parser.add_argument("--draw-seed", type=int, default=1, help="of the draws: another one, others; 1 by default")
    parser.add_argument("--beams", type=int, help=beams)


def check_lines(option: str, number: int) -> None:
    """Refuse a number of lines that no beam has, or of which there are too many for their states.

    Raises:
        StudyError: it is not from 1 to MAX_HYPOTHESES.
    """
    if not 1 <= number <= MAX_HYPOTHESES:
        raise StudyError(f"{option}: was {number}; allowed: 1 to {MAX_HYPOTHESES}")


def sampler(given: argparse.Namespace, usual: float | None) -> Sampler | None:
    """What draws, at the usual temperature where none is given.

    None where chance chooses nothing: with --beams, and without any of its options where no temperature is usual.

    Raises:
        StudyError: an option is impossible, or does not go with --beams.
    """
    if given.draw_seed < 0:
        raise StudyError(f"--draw-seed: was {given.draw_seed}; allowed: 0 or more")
    of_draws = [f"--{name.replace('_', '-')}" for name in OF_DRAWS if getattr(given, name) is not None]
    if given.beams is None:
        if usual is None and not of_draws:
            return None
        temperature = next(each for each in (given.temperature, usual, 1.0) if each is not None)
        return Sampler(Sampling(temperature, given.top_k, given.top_p), given.draw_seed)
    check_lines("--beams", given.beams)
    if of_draws:
        raise StudyError(f"--beams draws nothing; allowed: it or {', '.join(of_draws)}")
    return None
