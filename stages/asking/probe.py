"""Probes of trained weights that no training uses, and where answers come from.

An answer stands in the person's own page, among the training answers, in other pages, or nowhere. Questions are also
about unseen entities: names that no page and no question has.
"""

from collections.abc import Collection, Container, Mapping, Sequence
from itertools import islice, product
from pathlib import Path

import numpy as np
import pandas as pd

from stages.asking.generation import generate
from stages.asking.prompts import WordCue, dev_facts, page_prompts, trained_forms
from stages.asking.recall import extraction, matches_by_offset, offsets, with_room
from stages.corpus.prepared import Prepared
from stages.corpus.questions import Form, prompt
from stages.corpus.text import Vocabulary, pages_about
from stages.experiment.experiment import Experiment
from stages.sources.world.lexicon import CULTURES

SEED = 2021  # of the unseen names
COUNT = 200  # most unseen names
FIRST = ("asked", "init", "seed", "row", "offset")  # the first columns of a table, where it has them


def origin(
    answer: str, place: str | None, pages: Sequence[str], training_answers: Collection[str], corpus: Container[str]
) -> str:
    """Return the first that fits: empty, correct, own_page, training_answer, corpus or hallucination.

    place: the gold answer, if known; pages: the person's own; corpus: an answer that it lacks is a hallucination.
    """
    if not answer:
        return "empty"
    if answer == place:
        return "correct"
    if any(answer in page for page in pages):
        return "own_page"
    if answer in training_answers:
        return "training_answer"
    return "corpus" if answer in corpus else "hallucination"


def dev_origins(
    predictions: pd.DataFrame, pages: Mapping[int, Sequence[str]], training_answers: Collection[str], corpus: str
) -> pd.DataFrame:
    """Return the origin of each dev answer of predictions.tsv: asked (`dev`), init, seed, row, origin.

    pages: the person's own, by the row of the question.
    """
    dev = predictions[predictions.split == "dev"]
    in_corpus = {answer for answer in dev.predicted.unique() if answer in corpus}  # each is looked for once
    answered = zip(dev.predicted, dev.gold, dev.row, strict=True)
    origins = [origin(answer, place, pages[row], training_answers, in_corpus) for answer, place, row in answered]
    return dev[["init", "seed", "row"]].assign(asked="dev", origin=origins)


def unseen_names(vocabulary: Vocabulary, known: str, form: Form, context: int) -> list[str]:
    """Draw at most COUNT names of the generated world's cultures, the same each time.

    The text `known` has none of them, the vocabulary has all characters, and their questions leave room to answer.
    """
    names = []
    for culture in CULTURES.values():
        names += [f"{given} {family}" for given, family in product(culture.given, culture.family)]
    drawn = (names[number] for number in np.random.default_rng(SEED).permutation(len(names)))
    readable = (name for name in drawn if not vocabulary.unknown(name) and len(form.about(name)) + 2 <= context)
    return [*islice((name for name in readable if name not in known), COUNT)]


def probe(
    experiment: Experiment, prepared: Prepared, predictions: pd.DataFrame, weights: Mapping[str, Path], seed: int
) -> dict[str, pd.DataFrame]:
    """Probe what the weights of a seed have memorised, and where their answers come from.

    predictions: as in predictions.tsv; weights: the files `pretrained` and `finetuned`. Returns tables by the names of
    their files::

        extraction.tsv       seed, row, and 0 or 1 for each weights and prompt form, memorised and extracted
        prefix_offset.tsv    seed, row, offset, and 0 or 1 for each weights; no rows where no continuation is practised
        origins.tsv          asked (dev or unseen), init, seed, row, origin
    """
    recipe, vocabulary = experiment.question_recipe, prepared.vocabulary
    objectives, context = recipe.pretrain.objectives, recipe.model.context
    models = {name: experiment.trained_model(prepared, path) for name, path in weights.items()}
    dev, corpus = prepared.of_split("dev"), "\n".join(prepared.texts)
    pages = pages_about(prepared.texts, set(dev.name))
    facts = dev_facts(prepared, pages)

    forms = trained_forms(objectives)
    prompts = page_prompts(facts, forms, objectives, WordCue.of(objectives, prepared), context)
    finetuned = predictions[(predictions.init == "pretrained") & (predictions.split == "dev")].set_index("row")
    extracted = finetuned.correct.loc[[fact.row for fact in facts]].to_numpy(int)
    moves = offsets(facts)
    moved = with_room(facts, moves[-1], context) if "continuation" in forms else []

    form = prepared.question_forms[0]
    names = unseen_names(vocabulary, "\n".join([corpus, *prepared.table.question]), form, context)
    questions = [prompt(vocabulary.encode(form.about(name))) for name in names]
    said = [
        vocabulary.decode(answer.tokens)
        for answer in generate(models["finetuned"], questions, recipe.generation.max_characters)
    ]
    origins = [origin(answer, None, (), prepared.training_answers, corpus) for answer in said]
    of_unseen = pd.DataFrame(
        {"asked": "unseen", "init": "pretrained", "row": range(1, len(said) + 1), "origin": origins}
    )
    pages_of_row = {row: pages.get(name, []) for row, name in zip(dev.row, dev.name, strict=True)}
    of_dev = dev_origins(predictions, pages_of_row, prepared.training_answers, corpus)

    tables = {
        "extraction.tsv": extraction(models, vocabulary, facts, prompts, extracted).assign(seed=seed),
        "prefix_offset.tsv": matches_by_offset(models, vocabulary, moved, moves).assign(seed=seed),
        "origins.tsv": pd.concat([of_dev, of_unseen]).assign(seed=seed),
    }
    return {
        name: table.set_index([column for column in FIRST if column in table]).reset_index()
        for name, table in tables.items()
    }
