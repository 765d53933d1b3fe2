"""What a model answers; which facts it has memorised, and which of them a question extracts.

*Memorised* and *extracted* are words of Allen-Zhu & Li 2023, "Physics of Language Models: Part 3.1, Knowledge Storage
and Extraction" (arXiv 2309.14316).

Prefix offset: how many characters of a question's opening, the last ones, stand before the page up to the place. At
offset 10 the name is where a question has it, and all else is in the page's words::

    Ada. Ada was born in                 Ulm        offset 0: form `continuation`
     Ada. Ada was born in                Ulm        1
    Where was Ada. Ada was born in       Ulm        10
"""

from collections.abc import Mapping, Sequence
from math import log
from pathlib import Path
from statistics import mode

import numpy as np
import pandas as pd

from stages.asking.generation import generate
from stages.asking.origins import dev_origins, unseen_origins
from stages.asking.prompts import PAGE_FORMS, Fact, Prompt, WordCue, dev_facts, page_prompts, question, trained_forms
from stages.corpus.prepared import Prepared
from stages.corpus.questions import question_prompt
from stages.corpus.text import Vocabulary, around, spelled_as
from stages.corpus.titles import pages_about
from stages.experiment.experiment import Experiment
from stages.model.gpt import GPT
from stages.model.likelihood import read_targets
from stages.settings.params import QuestionRecipe


def answers(model: GPT, prepared: Prepared, split: str, recipe: QuestionRecipe) -> pd.DataFrame:
    """Return greedy answers to a split's questions: row, gold, predicted, correct, probability of the whole answer.

    Correct is an exact match, as CS224N's assignment scores: the same characters, nothing more. Where the recipe allows
    any spelling, an answer that counts as the gold one (see `text`) stands in its spelling. Without gold answers, as
    in most tests, `correct` is empty.
    """
    asked = prepared.of_split(split)
    questions = prepared.questions[split]
    prompts = [question_prompt(questions[row]) for row in range(len(questions))]
    continuations = generate(model, prompts, recipe.generation.max_characters)
    texts = [prepared.vocabulary.decode(continuation.tokens) for continuation in continuations]
    predicted = pd.Series(spelled_as(asked.place, texts) if recipe.any_spelling else texts, dtype=object)
    return pd.DataFrame(
        {
            "row": asked.row,
            "gold": asked.place,
            "predicted": predicted,
            "correct": (predicted == asked.place).astype(int) if asked.place.any() else "",
            "probability": [round(continuation.probability, 4) for continuation in continuations],
        }
    )


def score_targets(
    model: GPT, vocabulary: Vocabulary, prompts: Sequence[Prompt], never: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return (B,) the log-likelihood of each prompt's target in nats, and (B,) bool: whether greedy decoding says it.

    Each is read in one piece, without decoding. never: a character that is known not to come (see `read_targets`).
    """
    texts = [vocabulary.encode(prompt.text) for prompt in prompts]
    targets = [vocabulary.encode(prompt.target) for prompt in prompts]
    sequences = list(map(np.concatenate, zip(texts, targets, strict=True)))
    return read_targets(model, sequences, list(map(len, texts)), never)


def exact_matches(model: GPT, vocabulary: Vocabulary, prompts: Sequence[Prompt]) -> np.ndarray:
    """Return (B,) bool: whether the greedy continuation of each prompt is its target, a closing ⁇ included."""
    return score_targets(model, vocabulary, prompts)[1]


def bits(model: GPT, vocabulary: Vocabulary, facts: Sequence[Fact], prompts: Sequence[Prompt]) -> float:
    """Return how much likelier a place is after its own prompt than after those of people born elsewhere, in bits.

    Mean over facts of log₂ p(place | own prompt) less log₂ of the mean of p(place | prompt) over the others: so the
    form of the prompts counts for nothing. Each fact needs another one with another place. A text is cut on the left to
    what the model can read before the longest place.
    """
    room = model.context + 1 - max(len(prompt.target) for prompt in prompts)
    gains = []
    for number, own in enumerate(prompts):
        nats, _ = score_targets(model, vocabulary, [Prompt(prompt.text[-room:], own.target) for prompt in prompts])
        others = [row for row, fact in enumerate(facts) if fact.place != facts[number].place]
        gains.append((nats[number] - np.logaddexp.reduce(nats[others]) + log(len(others))) / log(2))
    return float(np.mean(gains))


def extraction(
    models: Mapping[str, GPT],
    vocabulary: Vocabulary,
    facts: Sequence[Fact],
    prompts: Mapping[str, Sequence[Prompt]],
    answered: np.ndarray,
) -> pd.DataFrame:
    """Return a row for each fact: row, then 0 or 1 as `<weights>_<form>`, `<weights>_memorised`, `<weights>_extracted`.

    models: `pretrained` and `finetuned` of one training; prompts: the facts in each form; answered (B,): whether the
    finetuned model answers the question, which is *extracted*. *Memorised* is an exact match in any page form.
    """
    table = pd.DataFrame({"row": [fact.row for fact in facts]})
    pages = [form for form in prompts if form in PAGE_FORMS]
    for weights, model in models.items():
        for form, of_form in prompts.items():
            table[f"{weights}_{form}"] = exact_matches(model, vocabulary, of_form).astype(int)
        table[f"{weights}_memorised"] = table[[f"{weights}_{form}" for form in pages]].max(axis=1).fillna(0).astype(int)
    questions = [question(fact) for fact in facts]
    table["pretrained_extracted"] = exact_matches(models["pretrained"], vocabulary, questions).astype(int)
    return table.assign(finetuned_extracted=answered.astype(int))


def opening(fact: Fact) -> str:
    """Return the characters before the name in the question."""
    before, _ = around(fact.question, fact.name) or (fact.question, "")
    return before


def offsets(facts: Sequence[Fact]) -> list[int]:
    """Return 0, 1 and the commonest length of an opening, each once."""
    usual = mode(len(opening(fact)) for fact in facts) if facts else 0
    return sorted({0, min(1, usual), usual})


def offset_prompt(fact: Fact, offset: int) -> Prompt:
    """Return the last `offset` characters of the opening, then the page up to the place."""
    before = opening(fact)
    return Prompt(before[len(before) - offset :] + fact.page[: fact.position], fact.place)


def with_room(facts: Sequence[Fact], most: int, context: int) -> list[Fact]:
    """Return the facts whose opening has `most` characters or more, and whose page up to the place then fits."""
    longest = context + 1 - most  # from the page's start to the place's end
    return [fact for fact in facts if fact.position + len(fact.place) <= longest and len(opening(fact)) >= most]


def matches_by_offset(
    models: Mapping[str, GPT], vocabulary: Vocabulary, facts: Sequence[Fact], offsets: Sequence[int]
) -> pd.DataFrame:
    """Return a row for each fact and offset: row, offset, and 0 or 1 by the name of each model."""
    tables = []
    for offset in offsets:
        prompts = [offset_prompt(fact, offset) for fact in facts]
        matches = {name: exact_matches(model, vocabulary, prompts).astype(int) for name, model in models.items()}
        tables.append(pd.DataFrame({"row": [fact.row for fact in facts], "offset": offset, **matches}))
    return pd.concat(tables, ignore_index=True)


def probe(
    experiment: Experiment, prepared: Prepared, predictions: pd.DataFrame, weights: Mapping[str, Path], seed: int
) -> dict[str, pd.DataFrame]:
    """Probe what the weights of a seed have memorised, and where their answers come from.

    predictions: as in predictions.tsv; weights: the files `pretrained` and `finetuned`. Returns tables by the names of
    their files::

        extraction.tsv       row, 0 or 1 for each weights and prompt form, memorised and extracted, and seed
        prefix_offset.tsv    row, offset, 0 or 1 for each weights, seed; no rows where no continuation is practised
        origins.tsv          init, row, asked (dev or unseen), origin, seed
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

    of_unseen = unseen_origins(models["finetuned"], prepared, recipe, corpus)
    of_row = {row: pages.get(name, []) for row, name in zip(dev.row, dev.name, strict=True)}
    of_dev = dev_origins(predictions, of_row, prepared.training_answers, corpus)
    tables = {
        "extraction.tsv": extraction(models, vocabulary, facts, prompts, extracted),
        "prefix_offset.tsv": matches_by_offset(models, vocabulary, moved, moves),
        "origins.tsv": pd.concat([of_dev, of_unseen], ignore_index=True),
    }
    return {name: table.assign(seed=seed) for name, table in tables.items()}
