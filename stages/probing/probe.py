"""All that trained weights are asked beside the dev questions; nothing here is ever trained on."""

from collections import defaultdict

import pandas as pd
from tqdm import tqdm

from stages.corpus.prepared import AUDIT, Prepared
from stages.corpus.question_forms import question_forms
from stages.corpus.questions import prompt
from stages.experiment.experiment import Experiment
from stages.inference.generation import generate
from stages.probing.decodings import by_decoding
from stages.probing.extraction import extraction, matches_by_offset, offsets, with_room
from stages.probing.forms import WordCue, dev_facts, page_prompts, practised_forms
from stages.probing.neighbours import neighbours
from stages.probing.origins import dev_origins, origin, unseen_names
from stages.sources.audit import own_pages
from stages.system.digests import as_written
from stages.system.records import read_table

FIRST = ("asked", "init", "seed", "row", "offset")  # columns, of those that a table has


def probe(experiment: Experiment, prepared: Prepared, predictions: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Ask a variant's weights for what they memorised, and find out where their answers come from.

    predictions: as in predictions.tsv. Out, by the name of its file::

        extraction.tsv       seed, row, and 0 or 1 for each weights and prompt form, memorised and extracted
        prefix_offset.tsv    seed, row, offset, and 0 or 1 for each weights; no rows where no continuation is practised
        origins.tsv          asked (dev or unseen), init, seed, row, origin
        neighbours.tsv       seed, row, letters, state, chance: of wrong answers
        decodings.tsv        seed, row, and for each way to decode 0 or 1 and a probability
    """
    recipe, vocabulary = experiment.question_recipe, prepared.vocabulary
    decoding = recipe.generation
    documents, asked = prepared.texts, prepared.of_split("dev")
    corpus, places = "\n".join(documents), prepared.training_answers
    pages = own_pages(documents, set(asked.name))
    with as_written(known := experiment.prepared_folder / "audit.tsv"):
        facts = dev_facts(prepared, read_table(known, AUDIT), pages)
    objectives, context = recipe.pretrain.objectives, recipe.model.context
    forms = practised_forms(objectives)
    prompts = page_prompts(facts, forms, objectives, WordCue.of(objectives, prepared), context)
    moved_by = offsets(facts)
    moved = with_room(facts, moved_by[-1], context) if "continuation" in forms else []
    own = {row: pages.get(name, []) for row, name in zip(asked.row, asked.name, strict=True)}
    form, *_ = question_forms(prepared)
    names = unseen_names(vocabulary, "\n".join([corpus, *prepared.table.question]), form, context)
    about_unseen = [prompt(vocabulary.encode(form.about(name))) for name in names]
    tables = defaultdict(list, {"origins.tsv": [dev_origins(predictions, own, places, corpus)]})
    for seed in tqdm(recipe.seeds, desc=f"probe {experiment.recipe_name} {experiment.variant}"):
        files = {"pretrained": f"pretrained/seed-{seed}", "finetuned": f"finetuned/pretrained-seed-{seed}"}
        models = {
            weights: experiment.trained_model(prepared, experiment.weights_folder / f"{name}.safetensors")
            for weights, name in files.items()
        }
        finetuned = models["finetuned"]
        of_seed = (predictions.init == "pretrained") & (predictions.split == "dev") & (predictions.seed == seed)
        answered = predictions[of_seed].set_index("row")
        right = answered.correct.loc[[fact.row for fact in facts]].to_numpy(int)
        said = generate(finetuned, about_unseen, decoding.max_characters, decoding.beams)
        unseen = [origin(vocabulary.decode(each.tokens), None, (), places, corpus) for each in said]
        found = {
            "extraction.tsv": extraction(models, vocabulary, facts, prompts, right),
            "prefix_offset.tsv": matches_by_offset(models, vocabulary, moved, moved_by),
            "origins.tsv": pd.DataFrame({"row": range(1, len(said) + 1), "origin": unseen}).assign(
                asked="unseen", init="pretrained"
            ),
            "neighbours.tsv": neighbours(finetuned, prepared, answered.predicted),
            "decodings.tsv": by_decoding(finetuned, prepared, decoding.max_characters, recipe.any_spelling),
        }
        for name, table in found.items():
            tables[name].append(table.assign(seed=seed))
    together = {name: pd.concat(parts) for name, parts in tables.items()}
    return {
        name: table.set_index([column for column in FIRST if column in table]).reset_index()
        for name, table in together.items()
    }
