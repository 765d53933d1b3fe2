"""One training of the study of access: a recipe whose phrases are chosen in one of three ways, trained and asked.

`reader` practises what the reader takes for the answer, `any` all phrases of a page alike, and `one` a phrase of each
page that was drawn once: what repetition does by itself.
"""

import argparse
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from stages.corpus.page import Pages
from stages.corpus.prepared import AUDIT, Prepared
from stages.corpus.salience import LEAST, reader_answers
from stages.experiment.experiment import Experiment
from stages.experiment.provenance import provenance
from stages.finetune import finetuning
from stages.pretrain import pretraining
from stages.probing.decodings import answers
from stages.probing.extraction import extraction
from stages.probing.forms import PAGE_FORMS, WordCue, dev_facts, page_prompts
from stages.settings import QuestionRecipe, Settings, load, merged
from stages.sources.audit import own_pages
from stages.system.digests import as_written
from stages.system.errors import Parser, StudyError, command
from stages.system.files import write_json
from stages.system.records import FACTS, read_record, read_table
from stages.training.run import Run, Training
from stages.training.work import folder_of

ROWS = Path("reports/access/rows")
PRACTICES = ("reader", "any", "one")
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


def phrases_drawn(prepared: Prepared, pages: Pages) -> dict[str, str]:
    """The phrase that was drawn of each page, by the page's heading."""
    drawn: dict[str, str] = {}
    for row, chances in enumerate(drawn_once(pages)):
        text, parts = prepared.text(row), pages[row]
        if chances:
            drawn.setdefault(text[: parts.heading], text[slice(*parts.phrases[int(np.argmax(chances))])])
    return drawn


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
    cell = {name: getattr(given, name) for name in ("recipe", "variant", "practice", "times", "seed")}
    work = trained(experiment, prepared, given)
    row = cell | {"epochs": experiment.recipe.pretrain.epochs} | asked(experiment, prepared, given.data, work)
    write_json(ROWS / f"{'-'.join(map(str, cell.values()))}.json", row)


def trained(experiment: Experiment, prepared: Prepared, given: argparse.Namespace) -> Path:
    """Pretrain and finetune; returns the folder of the weights."""
    chosen = drawn_once(Pages.of(prepared.each_text())) if given.practice == "one" else None
    first, second = pretraining(experiment, prepared, chosen), finetuning(experiment, prepared, "pretrained")

    def trainings(work: Path, _: int) -> Mapping[str, Training]:
        weights = work / "pretrained.safetensors"
        return {
            "pretrained": Training(first, partial(experiment.new_model, prepared, given.seed)),
            "finetuned": Training(second, partial(experiment.trained_model, prepared, weights)),
        }

    name = f"access-{given.recipe}-{given.variant}"
    depends = experiment.settings("pretrain", "finetune") | {"seed": given.seed, "practice": given.practice}
    run = Run(name, experiment, folder_of(name, depends, given.data), trainings)
    run.complete(given.seed)
    return run.work


def asked(experiment: Experiment, prepared: Prepared, data: Path, work: Path) -> dict[str, Any]:
    """What the weights know and say of each dev question, as strings of 0 and 1, and where they come from.

    `memorised` has `-` where the page does not tell the answer.
    """
    recipe, documents, dev = experiment.question_recipe, prepared.texts, prepared.of_split("dev")
    pages = own_pages(documents, set(dev.name))
    with as_written(known := data / "audit.tsv"):
        facts = dev_facts(prepared, read_table(known, AUDIT), pages)
    cue = WordCue.of(recipe.pretrain.objectives, documents, prepared.training_answers)
    prompts = page_prompts(facts, PAGE_FORMS, recipe.pretrain.objectives, cue, recipe.model.context)
    models = {
        name: experiment.trained_model(prepared, work / f"{name}.safetensors") for name in ("pretrained", "finetuned")
    }
    said = answers(models["finetuned"], prepared, "dev", recipe.generation.max_characters, recipe.generation.beams)
    by_row = said.set_index("row").correct
    found = extraction(models, prepared.vocabulary, facts, prompts, by_row.loc[[fact.row for fact in facts]].to_numpy())
    memorised = found.set_index("row").pretrained_memorised.reindex(said.row)
    training, settings = read_record(work / "pretrained.json", FACTS), experiment.settings("pretrain", "finetune")
    reader, drawn = reader_answers(prepared), phrases_drawn(prepared, Pages.of(prepared.each_text()))
    told = [*zip(dev.name, said.predicted, strict=True)]
    return {
        "correct": marks(said.correct),
        "memorised": "".join("-" if np.isnan(each) else str(int(each)) for each in memorised),
        "of_own_page": marks(bool(text) and any(text in page for page in pages.get(name, ())) for name, text in told),
        "as_reader": marks(reader.get(name) == text for name, text in told),
        "as_drawn": marks(drawn.get(name) == text for name, text in told),
        "pretrain_loss": training["loss"],
        "seconds": training["seconds"],
        "settings": settings,
        "provenance": provenance(settings, experiment.backend, training["seconds"]),
    }


def marks(outcomes: Iterable[Any]) -> str:
    """A character for each: 1 or 0."""
    return "".join(str(int(each)) for each in outcomes)


if __name__ == "__main__":
    main()
