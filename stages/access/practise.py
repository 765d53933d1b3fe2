"""One training of the study of access: a recipe whose phrases are chosen in one of three ways, trained and asked.

`reader` practises what the reader takes for the answer, `any` all phrases of a page alike, and `one` a phrase of each
page that was drawn once: what repetition does by itself.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from stages.corpus.page import Pages
from stages.corpus.prepared import Prepared
from stages.corpus.salience import LEAST, likeliest
from stages.experiment.experiment import Experiment
from stages.settings import QuestionRecipe, Settings, load, merged
from stages.system.errors import Parser, StudyError, command
from stages.trials.row import ACCESS, PRACTICES
from stages.trials.trial import try_out

SEED = 2021  # of the phrases drawn once: alike in all trainings


def practised(settings: Settings, name: str, variant: str, seed: int, practice: str, times: int) -> Experiment:
    """The cell of a recipe that practises so, so many times as long. Raises StudyError: there is none."""
    recipe = settings.question_recipe(name)
    clozes = [each for each in ("title_cloze", "word_cloze") if getattr(recipe.pretrain.objectives, each)]
    if not clozes:
        raise StudyError(f"recipe '{name}' practises no phrases: nothing chooses any")
    salient = {each: {"salient": float(practice != "any")} for each in clozes}
    change = {"pretrain": {"epochs": recipe.pretrain.epochs * times, "objectives": salient}, "seeds": [seed]}
    changed = QuestionRecipe.model_validate(merged(recipe.model_dump(), change))
    return Experiment.of(settings.model_copy(update={"recipes": settings.recipes | {name: changed}}), name, variant)


def drawn_once(pages: Pages) -> Iterator[list[float]]:
    """Of each page the chances of its phrases that one was drawn of: in practice nothing but that one."""
    generator = np.random.default_rng(SEED)
    for row in range(len(pages.headings)):
        chances = np.full(len(pages[row].phrases), LEAST)
        if len(chances):
            chances[generator.integers(len(chances))] = 1.0
        yield chances.tolist()


@command
def main() -> None:
    """Train one variant with one seed, ask it, and write its row."""
    parser = Parser(description=main.__doc__)
    parser.add_argument("--recipe", required=True, help="a key of `recipes` in params.yaml")
    parser.add_argument("--data", type=Path, required=True, help="folder of prepared or held-out questions")
    parser.add_argument("--variant", required=True)
    parser.add_argument("--practice", choices=PRACTICES, required=True, help="who chooses the phrases")
    parser.add_argument("--times", type=int, required=True, help="how many times the recipe's epochs")
    parser.add_argument("--seed", type=int, required=True)
    given = parser.parse_args()
    experiment = practised(load(), given.recipe, given.variant, given.seed, given.practice, given.times)
    prepared = Prepared.load(given.data)
    pages = Pages.of(prepared.each_text())
    chosen = drawn_once(pages) if given.practice == "one" else None
    choosers = {"drawn": likeliest(prepared, pages, drawn_once(pages))}
    row = try_out(experiment, given.practice, given.data, chosen, choosers=choosers)
    row.save(ACCESS / f"{given.recipe}-{given.variant}-{given.practice}-{given.times}-{given.seed}.json")


if __name__ == "__main__":
    main()
