"""The options that `ask` and `sample` share: which model is meant, and what chooses its characters."""

import argparse

from stages.inference.decoding import Pick, Sampler, Sampling
from stages.settings.recipe import MAX_HYPOTHESES
from stages.system.errors import StudyError


def add_model(parser: argparse.ArgumentParser) -> None:
    """Add --recipe, --variant and --seed."""
    parser.add_argument("--recipe", help="by default the selection of params.yaml")
    parser.add_argument("--variant", help="by default that of params.yaml; where it selects several, the best on dev")
    parser.add_argument("--seed", type=int, help="which training's model; by default the recipe's first seed")


def add_decoding(parser: argparse.ArgumentParser, temperature: str, beams: str) -> None:
    """Add --temperature, --top-k, --top-p, --draw-seed and --beams; texts: help of the two whose sense differs."""
    parser.add_argument("--temperature", type=float, help=temperature)
    parser.add_argument("--top-k", type=int, help="draw from this many of the likeliest characters only")
    parser.add_argument("--top-p", type=float, help="draw from the fewest likeliest characters with this mass only")
    parser.add_argument("--draw-seed", type=int, default=1, help="seed of the draws, 1 by default")
    parser.add_argument("--beams", type=int, help=beams)


def check_hypotheses(option: str, number: int) -> None:
    """Refuse a number of hypotheses that no beam has, or of which there are too many for their states.

    Raises StudyError: it is not from 1 to MAX_HYPOTHESES.
    """
    if not 1 <= number <= MAX_HYPOTHESES:
        raise StudyError(f"{option}: was {number}; allowed: 1 to {MAX_HYPOTHESES}")


def decoding(given: argparse.Namespace, usual_temperature: float | None) -> Pick | int | None:
    """What chooses the characters: a sampler, or the width of the beam.

    None where neither is asked for by an option nor a temperature is usual. Raises StudyError: an option is impossible,
    or does not go with --beams.
    """
    if given.draw_seed < 0:
        raise StudyError(f"--draw-seed: was {given.draw_seed}; allowed: 0 or more")
    draws = {"--temperature": given.temperature, "--top-k": given.top_k, "--top-p": given.top_p}
    asked = [option for option, value in draws.items() if value is not None]
    if given.beams is not None:
        check_hypotheses("--beams", given.beams)
        if asked:
            raise StudyError(f"--beams draws nothing; allowed: it or {', '.join(asked)}")
        return int(given.beams)
    if not asked and usual_temperature is None:
        return None
    temperature = next(each for each in (given.temperature, usual_temperature, 1.0) if each is not None)
    return Sampler(Sampling(temperature, given.top_k, given.top_p), given.draw_seed)
