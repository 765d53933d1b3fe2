"""Stage `exposure`: which characters of an answer are right after the gold ones, and after the model's own."""

import time
from pathlib import Path

import numpy as np
import torch

from stages.corpus.example import MASK, PAD
from stages.corpus.prepared import Prepared
from stages.corpus.questions import prompt
from stages.experiment.cell import Cell
from stages.experiment.experiment import Experiment
from stages.experiment.provenance import provenance
from stages.inference.generation import generate
from stages.model.gpt import GPT
from stages.system.digests import result_folder
from stages.system.errors import command
from stages.system.files import write_json
from stages.system.records import mark_string


@command
def main() -> None:
    """Ask a variant of a recipe the dev questions, and mark each character of the answers."""
    started = time.perf_counter()
    cell = Cell.from_command_line(main.__doc__)
    experiment = Experiment.of(cell.params, cell.recipe_name, cell.variant)
    prepared = Prepared.load(cell.prepared_folder)
    weights = cell.weights_folder / "finetuned"
    experiment.check_weights(weights, prepared.vocabulary)

    rows = []
    for seed in cell.seeds:
        model = experiment.trained_model(prepared, weights / f"pretrained-seed-{seed}.safetensors")
        marks = mark(model, prepared, experiment.question_recipe.generation.max_characters)
        rows += [{"seed": seed} | answer for answer in marks]
    made = provenance(experiment.settings(), experiment.backend, time.perf_counter() - started)
    with result_folder(Path("data/exposure") / cell.variant) as folder:
        write_json(folder / "exposure.json", {"answers": rows, "provenance": made})


@torch.inference_mode()
def mark(model: GPT, prepared: Prepared, most: int) -> list[dict[str, str]]:
    """Mark each gold character of the dev answers, the closing ⁇ included: 1 where the model's likeliest one is that.

    In `gold` the model reads the gold characters before it, in `own` those that it wrote itself, at most `most`.
    """
    questions, answers = prepared.questions["dev"], prepared.answers["dev"]
    prompts = [prompt(questions[row]) for row in range(len(questions))]
    rows = []
    for row, (text, continuation) in enumerate(zip(prompts, generate(model, prompts, most), strict=True)):
        gold = np.append(answers[row], MASK)
        read = torch.from_numpy(np.concatenate([text, gold[:-1]]))[None].to(model.head.weight.device)
        likeliest = model(read)[0, len(text) - 1 :].argmax(dim=-1).cpu().numpy()  # (gold,)
        padding = np.full(len(gold), PAD)  # PAD is no gold character
        own = np.concatenate([continuation.tokens, [MASK], padding])[: len(gold)]
        rows.append({"gold": mark_string(likeliest == gold), "own": mark_string(own == gold)})
    return rows


if __name__ == "__main__":
    main()
