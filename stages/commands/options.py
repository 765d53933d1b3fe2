"""The options that commands share."""

import argparse

from stages.settings.section import LARGEST_SEED
from stages.system.errors import within

MAX_HYPOTHESES = 256  # of one beam; each has a state of its own


def add_model(parser: argparse.ArgumentParser, seed: str = "which training's model; by default the first") -> None:
    """Add --recipe, --variant and --seed; seed: the help of the last."""
    parser.add_argument("--recipe", help="by default that of params.yaml")
    parser.add_argument("--variant", help="by default that of params.yaml; where it selects several, the best on dev")
    parser.add_argument("--seed", type=int, help=seed)


def add_draw_seed(parser: argparse.ArgumentParser) -> None:
    """Add --draw-seed."""
    parser.add_argument("--draw-seed", type=within(0, LARGEST_SEED), default=1, help="seed of the draws, 1 by default")
