"""Stage `ablate`: a recipe with one change, pretrained and finetuned without the held-out questions."""

from dataclasses import replace
from functools import partial
from pathlib import Path

from stages.corpus.prepared import Prepared
from stages.experiment.experiment import Experiment
from stages.finetune import finetuning
from stages.pretrain import pretraining
from stages.settings import Settings, load
from stages.system.errors import Parser, command
from stages.training.run import Training, run

HELD_OUT = Path("data/held_out")  # <recipe>/: what `prepare --held-out` makes
WEIGHTS = Path("data/ablations")  # <recipe>/<change>/


def ablated(settings: Settings, change: str) -> Experiment:
    """The experiment of a change of section `ablation`, its recipe called after both.

    Raises StudyError: there is no such change.
    """
    changed, name = settings.ablated(change), settings.ablation.recipe
    return replace(Experiment.of(changed, name, settings.ablation.variant), recipe_name=f"{name}-{change}")


@command
def main() -> None:
    """Train a change of section `ablation`: data/ablations/<recipe>/<change>/ gets pretrained and finetuned weights."""
    parser = Parser(description=main.__doc__)
    parser.add_argument("--change", required=True, help="a key of ablation.changes in params.yaml")
    given = parser.parse_args()
    settings = load()
    experiment = ablated(settings, given.change)
    data = HELD_OUT / settings.ablation.recipe
    prepared = Prepared.load(data)

    first, second = pretraining(experiment, prepared), finetuning(experiment, prepared, "pretrained")

    def trainings(work: Path, seed: int) -> dict[str, Training]:
        weights = work / "pretrained.safetensors"
        return {
            "pretrained": Training(first, partial(experiment.new_model, prepared, seed)),
            "finetuned": Training(second, partial(experiment.trained_model, prepared, weights)),
        }

    output = WEIGHTS / settings.ablation.recipe / given.change
    seeds = {"seeds": experiment.recipe.seeds}  # after which no file of an ablation is named
    depends = experiment.settings("pretrain", "finetune") | seeds
    run("ablate", experiment, depends, output, data, trainings=trainings)


if __name__ == "__main__":
    main()
