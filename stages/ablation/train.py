"""Stage `ablate`: a recipe with one change, trained without the held-out questions, and asked them."""

from pathlib import Path

from stages.experiment.experiment import Experiment
from stages.settings import load
from stages.system.errors import Parser, command
from stages.trials.row import ABLATIONS
from stages.trials.trial import try_out

HELD_OUT = Path("data/held_out")  # <recipe>/: what `prepare --held-out` makes


@command
def main() -> None:
    """Train and ask a change of section `ablation`."""
    parser = Parser(description=main.__doc__)
    settings = load()
    parser.add_argument("--change", required=True, choices=settings.ablation.changes)
    change = parser.parse_args().change
    name = settings.ablation.recipe
    experiment = Experiment.of(settings.ablated(change), name, settings.ablation.variant)
    full = settings.question_recipe(name).pretrain.objectives
    row = try_out(experiment, change, HELD_OUT / name, objectives=full)
    row.save(ABLATIONS / name / f"{change}.json")


if __name__ == "__main__":
    main()
