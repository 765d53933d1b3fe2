"""Which of the selection's trainings one is: told to the person who waits, of no influence on any result.

DVC runs the variants of a selection in an order of its own, another each time. So a training's number is counted from
those whose results lie in data/weights, and not from the order of a list.
"""

from dataclasses import replace

from stages.experiment.experiment import Experiment
from stages.system.files import read_json

# a training stage's output, the recipe's sections that it depends on, and its phases, each a training of a seed
STAGES = (
    ("pretrained", ("pretrain",), ("pretrain",)),
    ("finetuned", ("finetune", "pretrain"), ("finetune_scratch", "finetune_pretrained")),
)
PHASES = [phase for _, _, phases in STAGES for phase in phases]
SHORT = {"finetune_scratch": "scratch", "finetune_pretrained": "finetune"}


def trained(experiment: Experiment) -> set[tuple[str, str]]:
    """Variant and phase of what is trained already: of the selected variants, of all seeds, with today's settings.

    Whether code or data have changed since, only DVC knows.
    """
    found = set()
    for variant, section in experiment.selected.items():
        depends = {"variant": {variant: section}, "seeds": experiment.recipe.seeds}
        for output, sections, phases in STAGES:
            path = replace(experiment, variant=variant).weights_folder / output / "provenance.json"
            try:
                settings = read_json(path)["settings"]
            except (OSError, ValueError, KeyError, TypeError):
                break
            if settings != experiment.settings(*sections) | depends:
                break  # what comes after it is of older settings, too
            found |= {(variant, phase) for phase in phases}
    return found


def title(experiment: Experiment, phase: str, seed: int) -> str:
    """What a training's bar is called: `7 of 24 rope pretrain, seed 1`, or the recipe's name where it is not selected.

    The trainings of a stage are numbered by phase, then by seed, whether they run side by side or one after another.
    """
    variant, seeds = experiment.variant, experiment.recipe.seeds
    words = f"{variant} {SHORT.get(phase, phase)}, seed {seed}"
    if variant not in experiment.selected:
        return f"{experiment.recipe_name} {words}"
    own = next(phases for _, _, phases in STAGES if phase in phases)
    before = trained(experiment) - {(variant, each) for each in own}
    number = (len(before) + own.index(phase)) * len(seeds) + seeds.index(seed) + 1
    return f"{number} of {len(experiment.selected) * len(PHASES) * len(seeds)} {words}"
