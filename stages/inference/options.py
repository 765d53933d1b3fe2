"""How a command line says what chooses the next character: a beam, or chance and what it chooses from."""

import argparse

from stages.errors import StudyError
from stages.inference.decoding import Sampling

OF_DRAWS = ("temperature", "top_k", "top_p")


def add_decoding(parser: argparse.ArgumentParser, temperature: str, beams: str) -> None:
    """Add --temperature, --top-k, --top-p and --beams; the texts are the help of the two whose sense differs."""
    parser.add_argument("--temperature", type=float, help=temperature)
    parser.add_argument("--top-k", type=int, help="draw from the so many likeliest characters only")
    parser.add_argument("--top-p", type=float, help="draw from the fewest likeliest characters with this mass only")
    parser.add_argument("--beams", type=int, help=beams)


def sampling(given: argparse.Namespace, usual: float) -> Sampling | None:
    """What chance is to choose from, at the usual temperature where none is given; None with --beams.

    Raises:
        StudyError: an option is impossible, or does not go with --beams.
    """
    if given.beams is None:
        return Sampling(usual if given.temperature is None else given.temperature, given.top_k, given.top_p)
    if given.beams < 1:
        raise StudyError(f"--beams: was {given.beams}; allowed: 1 or more")
    if of_draws := [f"--{name.replace('_', '-')}" for name in OF_DRAWS if getattr(given, name) is not None]:
        raise StudyError(f"--beams draws nothing; allowed: it or {', '.join(of_draws)}")
    return None


def draws(given: argparse.Namespace) -> bool:
    """Whether an option of chance is given."""
    return any(getattr(given, name) is not None for name in OF_DRAWS)
