"""One training of the study of access: a recipe whose phrases are chosen in one of three ways.

`reader` practises what the reader takes for the answer, `any` all phrases of a page alike, and `one` a phrase a page
that was drawn once, which shows the effect of repetition alone.
"""

from pathlib import Path

import numpy as np

from stages.corpus.capitalised import capitalised
from stages.corpus.phrases import LEAST_PROBABILITY, Phrases
from stages.corpus.prepared import Prepared
from stages.experiment.experiment import Experiment
from stages.settings import Settings, load
from stages.system.errors import Parser, StudyError, command
from stages.trials.row import ACCESS, PRACTICES
from stages.trials.trial import try_out

SEED = 2021  # of the phrases that are drawn once: they are the same in all trainings


def practised(settings: Settings, name: str, variant: str, seed: int, practice: str, times: int) -> Experiment:
    """Return the cell of a recipe with a practice and `times` its epochs; StudyError where it practises no phrases."""
    recipe = settings.question_recipe(name)
    clozes = [name for name in ("title_cloze", "word_cloze") if getattr(recipe.pretrain.objectives, name)]
    if not clozes:
        raise StudyError(f"recipe '{name}' has no objective with phrases: add title_cloze or word_cloze")
    salient = {cloze: {"salient": float(practice != "any")} for cloze in clozes}
    change = {"pretrain": {"epochs": recipe.pretrain.epochs * times, "objectives": salient}}
    return Experiment.of(settings.with_change(name, change, seed, f"recipes.{name}"), name, variant)


def drawn_once(phrases: Phrases) -> Phrases:
    """Return the same phrases with nearly all probability on one a page, which is drawn here."""
    generator = np.random.default_rng(SEED)
    probabilities = []
    for count in phrases.spans.lengths:
        of_page = np.full(count, LEAST_PROBABILITY)
        if count:
            of_page[generator.integers(count)] = 1.0
        probabilities.append(of_page.tolist())
    return phrases.chosen(probabilities)


@command
def main() -> None:
    """Train one variant with one seed, ask it, and write its row."""
    parser = Parser(description=main.__doc__)
    parser.add_argument("--recipe", required=True, help="a key of `recipes` in params.yaml")
    parser.add_argument("--held-out", action="store_true", help="ask held-out training questions, not those of dev")
    parser.add_argument("--variant", required=True)
    parser.add_argument("--practice", choices=PRACTICES, required=True, help="who chooses the phrases")
    parser.add_argument("--times", type=int, required=True, help="how many times the recipe's epochs")
    parser.add_argument("--seed", type=int, required=True)
    given = parser.parse_args()
    experiment = practised(load(), given.recipe, given.variant, given.seed, given.practice, given.times)
    data = Path("data", "held_out" if given.held_out else "prepared", given.recipe)
    prepared = Prepared.load(data)
    drawn = drawn_once(capitalised(prepared))
    choosers = {"drawn": prepared.likeliest(drawn)}
    phrases = drawn if given.practice == "one" else None
    row = try_out(experiment, given.practice, data, phrases, choosers=choosers)
    row.save(ACCESS / f"{given.recipe}-{given.variant}-{given.practice}-{given.times}-{given.seed}.json")


if __name__ == "__main__":
    main()
