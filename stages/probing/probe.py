"""All that trained weights are asked beside the dev questions; nothing here is ever trained on."""

import pandas as pd
from tqdm import tqdm

from stages.corpus.prepared import Prepared, read_table
from stages.experiment.experiment import Experiment
from stages.probing.decodings import by_decoding
from stages.probing.extraction import extraction
from stages.probing.facts import dev_facts, dev_pages
from stages.probing.forms import WordCue, page_prompts, practised_forms
from stages.probing.neighbours import neighbours
from stages.probing.origins import dev_origins, origin
from stages.probing.prefix_offset import matches_by_offset, with_room
from stages.probing.unseen import answers_about, unseen_names
from stages.sources.forms import question_forms


def probe(experiment: Experiment, prepared: Prepared, predictions: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Ask a variant's weights for what they memorised, and find out where their answers come from.

    predictions: as in predictions.tsv. Out, by the name of its file::

        extraction.tsv       seed, row, and 0 or 1 for each weights and prompt form, memorised and extracted
        prefix_offset.tsv    seed, row, offset, and 0 or 1 for each weights; no rows where no continuation is practised
        origins.tsv          asked (dev or unseen), init, seed, row, origin
        neighbours.tsv       seed, row, letters, state, chance: of wrong answers
        decodings.tsv        seed, row, and for each way to decode 0 or 1 and a probability
    """
    recipe = experiment.question_recipe
    documents = prepared.texts
    corpus, places = "\n".join(documents), prepared.training_answers
    pages = dev_pages(prepared, documents)
    facts = dev_facts(prepared, read_table(experiment.prepared_folder / "audit.tsv"), pages)
    objectives, context = recipe.pretrain.objectives, recipe.model.context
    forms = practised_forms(objectives)
    cue = WordCue.of(objectives, documents, places)
    prompts = page_prompts(facts, forms, objectives, cue, context)
    moved = with_room(facts, context) if "continuation" in forms else []
    asked = prepared.of_split("dev")
    own = {row: pages.get(name, []) for row, name in zip(asked.row, asked.name, strict=True)}
    read = "\n".join([corpus, *prepared.table.question])
    form, *_ = question_forms(prepared)
    names = unseen_names(prepared.vocabulary, read, form, context)
    extracted, offsets, origins = [], [], [dev_origins(predictions, own, places, corpus)]
    near, decoded = [], []
    for seed in tqdm(recipe.seeds, desc=f"probe {experiment.recipe_name} {experiment.variant}"):
        files = {"pretrained": f"pretrained/seed-{seed}", "finetuned": f"finetuned/pretrained-seed-{seed}"}
        models = {
            weights: experiment.trained_model(prepared, experiment.weights_folder / f"{name}.safetensors")
            for weights, name in files.items()
        }
        answered = _answers(predictions, seed)
        right = answered.correct.loc[[fact.row for fact in facts]].to_numpy(int)
        near.append(neighbours(models["finetuned"], prepared, answered.predicted).assign(seed=seed))
        decoded.append(by_decoding(models["finetuned"], prepared, recipe.generation.max_characters).assign(seed=seed))
        extracted.append(extraction(models, prepared.vocabulary, facts, prompts, right).assign(seed=seed))
        offsets.append(matches_by_offset(models, prepared.vocabulary, moved).assign(seed=seed))
        said = answers_about(models["finetuned"], prepared.vocabulary, names, form, recipe.generation)
        found = [origin(each, None, (), places, corpus) for each in said]
        unseen = pd.DataFrame({"row": range(1, len(said) + 1), "origin": found})
        origins.append(unseen.assign(asked="unseen", init="pretrained", seed=seed))
    return {
        "extraction.tsv": _together(extracted, "seed", "row"),
        "prefix_offset.tsv": _together(offsets, "seed", "row", "offset"),
        "origins.tsv": _together(origins, "asked", "init", "seed", "row"),
        "neighbours.tsv": _together(near, "seed", "row"),
        "decodings.tsv": _together(decoded, "seed", "row"),
    }


def _answers(predictions: pd.DataFrame, seed: int) -> pd.DataFrame:
    """The dev answers of a seed's pretrained and finetuned model, by the row of the question."""
    of_seed = (predictions.init == "pretrained") & (predictions.split == "dev") & (predictions.seed == seed)
    return predictions[of_seed].set_index("row")


def _together(tables: list[pd.DataFrame], *first: str) -> pd.DataFrame:
    """The rows of all tables, with these columns before the others."""
    table = pd.concat(tables, ignore_index=True)
    return table[[*first, *(name for name in table.columns if name not in first)]]
