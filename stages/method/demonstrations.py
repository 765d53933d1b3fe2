"""Stage `demonstrations`: models with other numbers of heads, and of short examples, asked at later positions."""

import time
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch

from stages.corpus.example import PAD, Examples, columns
from stages.corpus.objectives import Draw
from stages.corpus.prepared import Prepared
from stages.corpus.questions import prompt
from stages.corpus.ragged import Ragged
from stages.experiment.experiment import Experiment
from stages.experiment.provenance import provenance
from stages.inference.answers import answers
from stages.model.attention import CausalSelfAttention
from stages.model.gpt import GPT
from stages.probing.extraction import exact_matches
from stages.probing.prompts import WordCue, dev_facts, page_prompts, practised_forms
from stages.settings import PARAMS, Settings, load
from stages.sources.audit import own_pages
from stages.system.digests import result_folder
from stages.system.errors import Parser, StudyError, command
from stages.system.files import write_json
from stages.training.jobs import finetuning, pretraining, trained_models
from stages.training.loop import Job
from stages.training.run import Run

STEP = 16  # characters between two places where a question is asked


@command
def main() -> None:
    """Train every model of section `demonstrations`, and write what each answers."""
    Parser(description=main.__doc__).parse_args()
    started = time.perf_counter()
    settings = load()
    section = settings.demonstrations
    context = settings.recipe_named(section.recipe).model.context
    if max(section.longest) > context:
        raise StudyError(f"{PARAMS}: demonstrations.longest: was {section.longest}; allowed: at most {context} each")
    with_heads = [cell(settings, "vanilla", seed, heads=n) for n, seed in product(section.heads, section.seeds)]
    of_lengths = []
    for seed, variant, longest in product(section.seeds, section.variants, section.longest):
        of_lengths.append((cell(settings, variant, seed, context=longest), cell(settings, variant, seed)))
    prepared = Prepared.load(with_heads[0].prepared_folder)
    least = int((prepared.questions["train"].lengths + prepared.answers["train"].lengths).max()) + 1  # the ⁇ between
    if min(section.longest) < least:
        what = f"was {section.longest}; allowed: at least {least} each, for the longest question with its answer"
        raise StudyError(f"{PARAMS}: demonstrations.longest: {what}")

    heads = [measure_heads(experiment, prepared) for experiment in with_heads]
    lengths = []
    for short, whole in of_lengths:
        lengths += measure_length(short, whole, prepared)

    made = provenance(section.model_dump(), with_heads[0].backend, time.perf_counter() - started)
    with result_folder(Path("data/demonstrations")) as folder:
        write_json(folder / "demonstrations.json", {"heads": heads, "lengths": lengths, "provenance": made})


def cell(settings: Settings, variant: str, seed: int, **model: int) -> Experiment:
    """Return the recipe with one seed and a changed model; pages are no longer than its context.

    Raises StudyError: the result is no valid recipe.
    """
    name = settings.demonstrations.recipe
    recipe = settings.question_recipe(name)
    change: dict[str, Any] = {"model": model}
    if (spans := recipe.pretrain.objectives.span_corruption) and "context" in model:
        longest = min(spans.longest_document, model["context"] - 2)  # two masks
        change["pretrain"] = {"objectives": {"span_corruption": {"longest_document": longest}}}
    return Experiment.of(settings.with_change(name, change, seed, "demonstrations"), name, variant)


def trained(
    experiment: Experiment, prepared: Prepared, first: Job, second: Job, longest: int | None = None
) -> dict[str, GPT]:
    """Train the only seed; return the models by the name of their weights. longest: see `behind_blanks`."""
    (seed,) = experiment.recipe.seeds
    settings = experiment.settings("pretrain", "finetune") | {"seed": seed, "longest": longest}
    run = Run("demonstrations", experiment, prepared, settings, experiment.prepared_folder)
    return trained_models(run, seed, first, second)


def measure_heads(experiment: Experiment, prepared: Prepared) -> dict[str, Any]:
    """Train a model; return its shares of answered questions and of memorised facts, and the spread of its keys."""
    recipe = experiment.question_recipe
    context, objectives = recipe.model.context, recipe.pretrain.objectives
    jobs = pretraining(experiment, prepared), finetuning(experiment, prepared, "pretrained")
    models = trained(experiment, prepared, *jobs)

    facts = dev_facts(prepared, own_pages(prepared.texts, set(prepared.of_split("dev").name)))
    cue = WordCue.of(objectives, prepared)
    forms = practised_forms(objectives)
    prompts = page_prompts(facts, forms, objectives, cue, context)
    matches = [exact_matches(models["pretrained"], prepared.vocabulary, prompts[form]) for form in forms]
    questions = prepared.questions["dev"]
    return {
        "heads": recipe.model.heads,
        "seed": recipe.seeds[0],
        "correct": float(answers(models["finetuned"], prepared, "dev", recipe).correct.mean()),
        "memorised": float(np.any(matches, axis=0).mean()),
        "spread": spread_of_keys(models["finetuned"], [prompt(questions[row]) for row in range(len(questions))]),
    }


@torch.inference_mode()
def spread_of_keys(model: GPT, texts: list[np.ndarray]) -> float:
    """Return the standard deviation of |k| over its mean among all characters, the mean over blocks and heads.

    texts: (T,) int64 each; the model has softmax attention.
    """
    mixers = [module for module in model.eval().modules() if isinstance(module, CausalSelfAttention)]
    lengths: dict[Any, list[torch.Tensor]] = {mixer.query_key_value: [] for mixer in mixers}
    heads = mixers[0].heads

    def keep(linear: Any, _: Any, output: torch.Tensor) -> None:
        keys = output.chunk(3, dim=-1)[1]
        lengths[linear].append(keys.reshape(-1, heads, keys.shape[-1] // heads).norm(dim=-1))  # (T, nh)

    hooks = [linear.register_forward_hook(keep) for linear in lengths]
    for text in texts:
        model(torch.from_numpy(text)[None].to(model.head.weight.device))
    for hook in hooks:
        hook.remove()
    of_blocks = torch.stack([torch.cat(parts) for parts in lengths.values()])  # (layers, characters, nh)
    return float((of_blocks.std(dim=1, correction=0) / of_blocks.mean(dim=1)).mean())


def measure_length(short: Experiment, whole: Experiment, prepared: Prepared) -> list[dict[str, Any]]:
    """Train a model of the whole context on examples of the short one; return the share that it answers, by place."""
    recipe, longest = whole.question_recipe, short.recipe.model.context
    jobs = pretraining(short, prepared), finetuning(short, prepared, "pretrained")
    first, second = (replace(job, draw=behind_blanks(job.draw, longest), context=recipe.model.context) for job in jobs)
    model = trained(whole, prepared, first, second, longest)["finetuned"]

    texts = prepared.questions["dev"]
    most = recipe.model.context - int((texts.lengths + prepared.answers["dev"].lengths).max()) - 2  # two masks
    rows = []
    for start in range(0, most + 1, STEP):
        moved = [np.concatenate([np.full(start, PAD), texts[row]]) for row in range(len(texts))]
        asked = replace(prepared, questions={"dev": Ragged.of(moved)})
        share = float(answers(model, asked, "dev", recipe).correct.mean())
        rows.append(
            {"variant": whole.variant, "longest": longest, "seed": recipe.seeds[0], "start": start, "correct": share}
        )
    return rows


def behind_blanks(draw: Draw, longest: int) -> Draw:
    """Draw the same examples, each behind a random number of PAD, together at most `longest` characters."""

    def moved(rows: np.ndarray, generator: np.random.Generator) -> Examples:
        examples = draw(rows, generator)
        blanks = generator.integers(np.maximum(longest - examples.lengths, 1))  # (B,)
        sources = np.arange(longest) - blanks[:, None]  # (B, T): negative ones take the PAD at the end
        inputs, targets = (columns(part, longest) for part in (examples.inputs, examples.targets))
        shifted = [np.take_along_axis(part, sources, axis=1) for part in (inputs, targets)]
        return Examples(shifted[0], shifted[1], examples.lengths + blanks)

    return moved


if __name__ == "__main__":
    main()
