"""Stage `probe`: trained weights asked further things than the dev questions; nothing here is ever trained on."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from tqdm import tqdm

from stages.corpus.prepared import Prepared, read_table, write_table
from stages.experiment.experiment import Experiment
from stages.probing.comparison import summary
from stages.probing.facts import Fact, dev_facts, texts
from stages.probing.forms import WordCue, asked_in_all_forms, control_form, ranked_form, trained_forms
from stages.probing.knowledge import knowledge, place_ranks
from stages.probing.origins import corpus_text, made_up, origins
from stages.probing.people import answers, invented_names
from stages.probing.ranking import WIDEST
from stages.probing.saliency import saliency
from stages.probing.shifts import SHIFTS, spelled_when_shifted, with_room
from stages.settings import load
from stages.system.errors import StudyError, command
from stages.system.files import new_folder, write_json


@command
def main() -> None:
    """Ask the weights of a variant of a recipe for what they know, and about people who are in no page."""
    experiment = Experiment.from_command_line(main.__doc__)
    settings, recipe = load().probe, experiment.question_recipe
    prepared = Prepared.load(experiment.prepared_folder)
    predictions = _predictions(experiment)
    documents = texts(prepared)
    corpus = corpus_text(documents)
    facts = dev_facts(prepared, read_table(experiment.prepared_folder / "audit.tsv"), documents)
    objectives, context = recipe.pretrain.objectives, recipe.model.context
    word_cue = WordCue.of(objectives, documents, prepared.training_answers)
    asked = asked_in_all_forms(facts, objectives, settings.cue, word_cue, context)
    read = corpus_text([*documents, *prepared.table.question])
    people = invented_names(prepared.vocabulary, read, settings.people, settings.seed, context)
    train = prepared.of_split("train").place
    places = set(train)
    all_places = places | {fact.place for fact in facts}
    trained = trained_forms(objectives)
    moved = with_room(facts, context) if "continuation" in trained else []
    known, spelled, said, looked = [], [], [], None
    for seed in tqdm(recipe.seeds, desc=f"probe {experiment.recipe_name} {experiment.variant}"):
        files = {"pretrained": f"pretrained/seed-{seed}", "finetuned": f"finetuned/pretrained-seed-{seed}"}
        models = {
            weights: experiment.trained_model(prepared, experiment.weights_folder / f"{name}.safetensors")
            for weights, name in files.items()
        }
        if facts:
            right = _right(predictions, seed, facts)
            known.append(
                knowledge(models, prepared.vocabulary, facts, asked, right).assign(
                    variant=experiment.variant,
                    seed=seed,
                    **place_ranks(models, prepared.vocabulary, asked, ranked_form(objectives), all_places),
                )
            )
        if moved:
            shifts = spelled_when_shifted(models, prepared.vocabulary, moved)
            spelled.append(shifts.assign(variant=experiment.variant, seed=seed))
        if len(people):
            replies = answers(models["finetuned"], prepared.vocabulary, list(people["name"]), recipe.generation)
            said.append(pd.concat([people, replies], axis=1).assign(variant=experiment.variant, seed=seed))
        if len(people) and looked is None:  # of the first seed alone: it is one question
            name = str(people["name"][0])
            looked = saliency(models["finetuned"], prepared.vocabulary, name, recipe.generation)
    record: dict[str, Any] = {
        "variant": experiment.variant,
        "seeds": recipe.seeds,
        "questions": len(prepared.of_split("dev")),
        "facts": len(facts),
        "cue": settings.cue,
        "words": word_cue.most,
        "trained_forms": trained,
        "control": control_form(objectives),
        "ranked_form": ranked_form(objectives),
        "places": len(all_places),
        "furthest": WIDEST,
        "shifts": SHIFTS if moved else [],
        "origins": origins(predictions, places, corpus),
        "made_up": made_up(predictions, prepared, places, corpus),
        "people": summary(pd.concat(said), predictions, train, settings.seed) if said else None,
        "saliency": looked,
    }
    with new_folder(Path("data/probes") / experiment.recipe_name / experiment.variant) as folder:
        if known:
            write_table(folder / "knowledge.tsv", _first(pd.concat(known), "variant", "seed"))
        if spelled:
            write_table(folder / "shifted.tsv", _first(pd.concat(spelled), "variant", "seed"))
        if said:
            write_table(folder / "invented.tsv", _first(pd.concat(said), "variant", "seed"))
        write_json(folder / "probe.json", record)


def _predictions(experiment: Experiment) -> pd.DataFrame:
    """predictions.tsv of the variant's evaluation, every cell a string.

    Raises:
        StudyError: it is missing.
    """
    path = experiment.evaluation_folder / "predictions.tsv"
    if not path.is_file():
        raise StudyError(f"{path} is missing; `dvc repro` makes it")
    return read_table(path).astype(str)


def _right(predictions: pd.DataFrame, seed: int, facts: list[Fact]) -> np.ndarray:
    """Whether the finetuned model of a seed answers the question of each fact."""
    of_seed = (predictions.init == "pretrained") & (predictions.split == "dev") & (predictions.seed == str(seed))
    mine = predictions[of_seed]
    right = dict(zip(mine.row, mine.correct == "1", strict=True))
    return np.array([right[str(fact.row)] for fact in facts])


def _first(table: pd.DataFrame, *names: str) -> pd.DataFrame:
    """The table with these columns before the others."""
    return table[[*names, *(name for name in table.columns if name not in names)]]


if __name__ == "__main__":
    main()
