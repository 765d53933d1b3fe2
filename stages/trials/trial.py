"""A trial as a job: a recipe with a change is trained by the stages' own code and asked; its row is the result."""

import json
from collections import Counter
from collections.abc import Sequence
from math import log, log2
from typing import Any

import numpy as np

from stages.asking.generation import Sampler, passages
from stages.asking.prompts import PAGE_FORMS, Fact, Prompt, WordCue, continuation, dev_facts, page_prompts, question
from stages.asking.recall import answers, bits, extraction, score_targets
from stages.corpus.example import MASK, answer_sequence
from stages.corpus.prepared import Prepared
from stages.corpus.text import MASK_CHARACTER
from stages.corpus.titles import pages_about
from stages.experiment.experiment import Experiment
from stages.jobs.executor import run_job
from stages.jobs.job import ROW_FILE, WEIGHTS, Job
from stages.model.gpt import GPT
from stages.model.likelihood import read_targets
from stages.sources.pairs import draw_pairs
from stages.system.files import write_json

WAIT = 24 * 3600.0  # seconds: cells of a study may build on one pretraining
FACTS_FOR_BITS = 48  # whose bits are measured: each is asked with every other one's prompt
WINDOWS = 200  # of a text, spread over it: all models of it are scored on the same ones
TEMPERATURES = (0.0, 0.5, 0.8, 1.0)
OPENING = "O God, O God!"  # a text model's prompt; a new line where the text lacks a character
WRITTEN = 2000  # characters
STRETCH = 20  # characters of a stretch that is recited if the text has it


def carry_out(job: Job) -> None:
    """Train what a trial builds on, unless it is there, ask it, and write its row."""
    for needed in job.inputs:
        if needed.result is None:
            run_job(needed, WAIT)
    experiment = Experiment.of(job.params, job.recipe_name, job.variant)
    prepared = Prepared.load(job.prepared)
    pretrained, *others = job.inputs
    folder, pretraining = pretrained.result_folder, pretrained.record["trainings"][WEIGHTS]
    models = {"pretrained": experiment.trained_model(prepared, folder / f"{WEIGHTS}.safetensors")}
    trainings = [pretraining]
    if others:
        (finetuned,) = others
        for name, init in (("finetuned", "pretrained"), ("scratch", "scratch")):
            models[name] = experiment.trained_model(prepared, finetuned.result_folder / f"{init}.safetensors")
        trainings.append(finetuned.record["trainings"]["pretrained"])
        measured = asked(experiment, prepared, models)
    elif job.params.recipe_named(job.recipe_name).data.source == "pairs":
        measured = pairs_stored(models["pretrained"], prepared, job.params.sources.pairs.seed)
    else:
        measured = {"text": json.dumps(text_figures(models["pretrained"], prepared, job.seed))}
    row = {
        "loss": round(pretraining["loss"], 5),
        "characters": sum(training["characters"] for training in trainings),
        "parameters": pretraining["parameters"],
        "epochs": round(pretraining["examples"] / len(prepared.documents)),
        "seconds": round(sum(training["seconds"] for training in trainings), 1),
        "commit": pretraining["commit"],
        "device": pretraining["device"],
        "precision": pretraining["precision"],
        **measured,
    }
    write_json(job.folder / ROW_FILE, row)
    job.end([ROW_FILE])


def asked(experiment: Experiment, prepared: Prepared, models: dict[str, GPT]) -> dict[str, Any]:
    """Return what models know and answer: `pretrained`, `finetuned` and `scratch`; fields of a row."""
    recipe = experiment.question_recipe
    objectives, context = recipe.pretrain.objectives, recipe.model.context
    dev = prepared.of_split("dev")
    pages = pages_about(prepared.texts, set(dev.name))
    facts = dev_facts(prepared, pages)
    prompts = page_prompts(facts, PAGE_FORMS, objectives, WordCue.of(objectives, prepared), context)

    answered = answers(models["finetuned"], prepared, "dev", recipe)
    extracted = answered.set_index("row").correct.loc[[fact.row for fact in facts]].to_numpy(int)
    probed = {name: models[name] for name in ("pretrained", "finetuned")}
    table = extraction(probed, prepared.vocabulary, facts, prompts, extracted).set_index("row")
    memorised = table.pretrained_memorised
    reader = prepared.reader_answers()
    rows = [*zip(dev.name, answered.predicted, answered.correct, strict=True)]
    return {
        "questions": len(answered),
        "right": int(answered.correct.sum()),
        "scratch": int(answers(models["scratch"], prepared, "dev", recipe).correct.sum()),
        "facts": len(facts),
        "memorised": int(memorised.sum()),
        "both": int((memorised * extracted).sum()),
        "forms": json.dumps({form: int(table[f"pretrained_{form}"].sum()) for form in PAGE_FORMS}),
        "own_page": sum(
            answer != "" and not is_right and any(answer in page for page in pages.get(name, ()))
            for name, answer, is_right in rows
        ),
        "reader": sum(reader.get(name) == answer for name, answer, _ in rows),
        "right_marks": "".join(map(str, answered.correct)),
        "memorised_marks": "".join(
            "-" if np.isnan(mark) else str(int(mark)) for mark in memorised.reindex(answered.row)
        ),
        "said": json.dumps([answer for name, answer, _ in rows if name not in pages], ensure_ascii=False),
        **bits_of(prepared, probed, facts, context),
    }


def bits_of(prepared: Prepared, models: dict[str, GPT], facts: Sequence[Fact], context: int) -> dict[str, float]:
    """Return the bits that a page up to the place, and a question, give of a place (see `study.row`)."""
    some = facts[:FACTS_FOR_BITS]
    if len({fact.place for fact in some}) < 2:
        return {}
    vocabulary, entropy = prepared.vocabulary, place_entropy(prepared)

    def share(model: GPT, prompts: Sequence[Prompt], never: int | None = None) -> float:
        """Return the share of the places' entropy that a model's code length of them, −log₂ p, lacks."""
        nats, _ = score_targets(model, vocabulary, prompts, never)
        return round(1 + float(nats.mean()) / log(2) / entropy, 4)

    pages, questions = [continuation(fact, context) for fact in some], [question(fact) for fact in some]
    unclosed = [Prompt(prompt.text, prompt.target.removesuffix(MASK_CHARACTER)) for prompt in questions]
    return {
        "page_bits": round(bits(models["pretrained"], vocabulary, some, pages), 3),
        "page_share": share(models["pretrained"], pages),
        "page_stored": share(models["pretrained"], pages, MASK),
        "question_bits": round(bits(models["finetuned"], vocabulary, some, questions), 3),
        "question_share": share(models["finetuned"], unclosed),
    }


def place_entropy(prepared: Prepared) -> float:
    """Return the entropy of the places that questions of train and dev are answered with, in bits."""
    places = prepared.table.place[prepared.table.split != "test"]
    return sum(count / len(places) * log2(len(places) / count) for count in Counter(places).values())


def pairs_stored(model: GPT, prepared: Prepared, seed: int) -> dict[str, Any]:
    """Return the bits that pairs ask, what the model stores of them, and how many places it says without a fault.

    Stored are the bits asked less the model's code length of the place and the closing ⁇.
    """
    names, places = prepared.questions["train"], prepared.answers["train"]
    sequences = [answer_sequence(names[row], places[row]) for row in range(len(names))]
    people = draw_pairs(len(prepared.documents), seed)
    nats, exact = read_targets(model, sequences, [*(names.lengths + 1)])
    bits_asked = sum(person.bits for person in people)
    return {
        "questions": len(people),
        "right": int(exact.sum()),
        "bits_asked": round(bits_asked, 1),
        "bits_stored": round(bits_asked + float(nats.sum()) / log(2), 1),
    }


def text_figures(model: GPT, prepared: Prepared, seed: int) -> dict[str, Any]:
    """Return how a text model scores: its loss on fixed windows, and what it writes at each temperature.

    `recited` is the share of stretches of 20 characters that the text has; `non_words` that of words which it lacks.
    """
    tokens, vocabulary = prepared.documents.values.astype(np.int64), prepared.vocabulary
    length = min(model.context + 1, len(tokens))
    starts = np.linspace(0, len(tokens) - length, WINDOWS).astype(int)
    nats, _ = read_targets(model, [tokens[start : start + length] for start in starts], [1] * WINDOWS)
    text = vocabulary.decode(tokens)
    opening = "\n" if vocabulary.unknown(OPENING) else OPENING
    figures: dict[str, Any] = {"window_loss": round(float(-nats.mean()) / (length - 1), 4)}
    known = {*text.split()}
    for temperature in TEMPERATURES:
        beginning = vocabulary.encode(opening)[None]
        pieces = [*passages(model, beginning, WRITTEN, Sampler(seed, temperature))]
        passage = vocabulary.decode(np.hstack(pieces)[0])
        stretches = [passage[start : start + STRETCH] for start in range(len(passage) - STRETCH + 1)]
        words = passage.split()[:-1]  # the last one is cut
        recited, lacking = [part in text for part in stretches], [word not in known for word in words]
        figures[f"recited_{temperature:g}"] = round(100 * _share(recited), 2)
        figures[f"non_words_{temperature:g}"] = round(100 * _share(lacking), 2)
        figures[f"passage_{temperature:g}"] = opening + passage[:240]
    return figures


def _share(outcomes: Sequence[bool]) -> float:
    return sum(outcomes) / len(outcomes) if outcomes else 0.0
