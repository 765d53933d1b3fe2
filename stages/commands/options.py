"""What the commands share: their options, and notes beside the answers. No torch: loading it takes a second."""

import argparse
import sys

from stages.settings.section import LARGEST_SEED
from stages.system.errors import within
from stages.system.terminal import harmless

MAX_HYPOTHESES = 256  # of one question's beam or draws; each has a state of its own


def add_model(parser: argparse.ArgumentParser, seed: str = "which training's model; by default the first") -> None:
    """Add --recipe, --variant and --seed; seed: the help of the last."""
    parser.add_argument("--recipe", help="by default that of params.yaml")
    parser.add_argument("--variant", help="by default that of params.yaml; where it selects several, the best on dev")
    parser.add_argument("--seed", type=int, help=seed)


def add_draw_seed(parser: argparse.ArgumentParser) -> None:
    """Add --draw-seed."""
    parser.add_argument("--draw-seed", type=within(0, LARGEST_SEED), default=1, help="seed of the draws, 1 by default")


def add_decoding(parser: argparse.ArgumentParser, temperature: str, beams: str) -> None:
    """Add --temperature, --top-k, --top-p, --draw-seed and --beams; temperature and beams: the help of these two."""
    parser.add_argument("--temperature", type=float, help=temperature)
    parser.add_argument("--top-k", type=int, help="draw from this many of the likeliest characters only")
    parser.add_argument("--top-p", type=float, help="draw from the fewest likeliest characters with this mass only")
    add_draw_seed(parser)
    parser.add_argument("--beams", type=within(1, MAX_HYPOTHESES), help=beams)


def tell(text: str) -> None:
    """Print a line beside the answers, on stderr."""
    sys.stdout.flush()
    print(harmless(text), file=sys.stderr, flush=True)
