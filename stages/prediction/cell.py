"""A cell of the study: a mixer's alignment, and how many bits of a fact its prompts extract after training."""

from collections.abc import Sequence
from math import log

import numpy as np

from stages.corpus.prepared import Prepared
from stages.experiment.backend import choose_backend
from stages.experiment.experiment import Experiment
from stages.experiment.provenance import provenance
from stages.model.gpt import GPT
from stages.model.likelihood import read_targets
from stages.prediction.alignment import alignment
from stages.prediction.row import RECIPE, Cell, Row
from stages.probing.prompts import Fact, Prompt, continuation, dev_facts, question
from stages.settings import Settings
from stages.sources.audit import own_pages
from stages.sources.world.prepared import prepared_world
from stages.system.errors import StudyError
from stages.system.records import FACTS, read_record
from stages.training.jobs import finetuning, pretraining, trained_models
from stages.training.run import Run


def trained(settings: Settings, cell: Cell) -> Row:
    """Measure a cell: the alignment of its first weights, then what it knows after pretraining and finetuning."""
    section = settings.prediction
    settings = settings.with_change(RECIPE, section.change, cell.seed, "prediction.change")
    settings = settings.model_copy(update={"variants": settings.every_variant})
    experiment = Experiment.of(settings, RECIPE, cell.variant)
    world = settings.sources.synthetic.model_copy(update={"seed": cell.world})
    prepared = prepared_world(world)
    dev = prepared.of_split("dev")
    facts = dev_facts(prepared, own_pages(prepared.texts, set(dev.name)))[: section.facts]
    if len({fact.place for fact in facts}) < 2:
        what = f"all people that world {cell.world} asks about were born in one place"
        raise StudyError(f"params.yaml: sources.synthetic.people.dev: {what}; ask about more")

    exact = settings.compute.model_copy(update={"device": "cpu", "precision": "float32", "kernels": "torch"})
    choose_backend(exact)  # compiled kernels are off
    untrained = alignment(experiment.new_model(prepared, cell.seed), prepared.vocabulary, facts)
    choose_backend(settings.compute)

    record = experiment.settings("pretrain", "finetune") | {"world": world.model_dump(), "seed": cell.seed}
    run = Run("prediction", experiment, prepared, record)
    jobs = pretraining(experiment, prepared), finetuning(experiment, prepared, "pretrained")
    models = trained_models(run, cell.seed, *jobs)
    seconds = sum(read_record(run.work / f"{name}.json", FACTS)["seconds"] for name in models)
    made = provenance(record, experiment.backend, seconds)

    pages = [continuation(fact, experiment.recipe.model.context) for fact in facts]
    return Row(
        **cell.model_dump(),
        alignment=round(untrained, 5),
        question_bits=round(bits(models["finetuned"], prepared, facts, [question(fact) for fact in facts]), 3),
        page_bits=round(bits(models["pretrained"], prepared, facts, pages), 3),
        parameters=sum(weight.numel() for weight in models["pretrained"].parameters()),
        seconds=round(made["seconds"], 1),
        commit=made["commit"],
        device=made["device"],
    )


def bits(model: GPT, prepared: Prepared, facts: Sequence[Fact], prompts: Sequence[Prompt]) -> float:
    """Return how much likelier a place is after its own prompt than after those of people born elsewhere, in bits.

    Mean over facts of log₂ p(place | own prompt) less log₂ of the mean of p(place | prompt) over the others.
    """
    texts = [prepared.vocabulary.encode(prompt.text) for prompt in prompts]
    gains = []
    for number, prompt in enumerate(prompts):
        target = prepared.vocabulary.encode(prompt.target)
        sequences = [np.concatenate([text, target]) for text in texts]
        nats, _ = read_targets(model, sequences, [len(text) for text in texts])
        others = [row for row, fact in enumerate(facts) if fact.place != facts[number].place]
        gains.append((nats[number] - np.logaddexp.reduce(nats[others]) + log(len(others))) / log(2))
    return float(np.mean(gains))
