"""Models of other numbers of heads, and examples behind blanks."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from stages.corpus.prepared import Prepared
from stages.corpus.questions import question_examples
from stages.method import demonstrations
from stages.method.demonstrations import spread_of_keys
from tests.support.talking import ChangeParams, Run, error
from tests.support.tiny import MODEL, loud, random_tokens, tiny_model


def test_models_know_what_they_were_taught_where_they_were_taught_it(
    run: Run, project: Path, change: ChangeParams
) -> None:
    section = {"seeds": [1], "heads": [1, 2], "variants": ["vanilla"], "longest": [48, 64]}
    spans = {"mixture_weight": 1.0, "shortest_document": 40, "longest_document": 60}  # whole pages
    pretrain = {"recipes.quick.pretrain.epochs": 400, "recipes.quick.pretrain.objectives": {"span_corruption": spans}}
    change({f"demonstrations.{key}": value for key, value in section.items()} | pretrain)
    assert run(demonstrations).code == 0
    written = json.loads((project / "data/demonstrations/demonstrations.json").read_text(encoding="utf-8"))
    heads = written["heads"]
    assert [(row["heads"], row["correct"]) for row in heads] == [(1, 1), (2, 1)]
    assert all(row["memorised"] > 0.5 and 0 < row["spread"] < 1 for row in heads)
    # the longest question and its answer with two masks have 32 characters
    places = [(row["longest"], row["start"], row["correct"]) for row in written["lengths"]]
    assert [place[:2] for place in places] == [(48, 0), (48, 16), (48, 32), (64, 0), (64, 16), (64, 32)]
    assert all(correct > 0.8 for longest, start, correct in places if start + 32 <= longest)


def test_the_spread_of_keys_is_that_of_their_lengths_by_head() -> None:
    model = loud(tiny_model("vanilla", model=MODEL.model_copy(update={"layers": 1})))
    tokens = random_tokens(2, 9)
    norm, linear = model.blocks[0].norm_mixer, model.blocks[0].mixer.query_key_value
    with torch.no_grad():
        x = model.embedding.weight[tokens] + model.positions[:9]  # type: ignore[index]
        x = torch.nn.functional.layer_norm(x, (32,), norm.weight, norm.bias)
        keys = x @ linear.weight[32:64].T + linear.bias[32:64]  # (2, 9, C): after the queries, before the values
    lengths = np.sqrt((keys.numpy().reshape(18, MODEL.heads, 8) ** 2).sum(axis=2))
    by_hand = (lengths.std(axis=0) / lengths.mean(axis=0)).mean()
    assert spread_of_keys(model, [*tokens.numpy()]) == pytest.approx(by_hand, rel=1e-5)


def test_a_number_of_heads_that_does_not_divide_the_width_is_told(run: Run, change: ChangeParams) -> None:
    change({"demonstrations.heads": [3], "demonstrations.variants": ["rope"], "demonstrations.longest": [16]})
    assert error(run(demonstrations)).startswith("error: params.yaml: demonstrations.model: ")


def test_lengths_that_the_recipe_or_a_question_does_not_allow_are_told(
    run: Run, project: Path, change: ChangeParams
) -> None:
    message = "error: params.yaml: demonstrations.longest: was [16, {}]; allowed: at {} each"
    change({"demonstrations.longest": [16, 4096]})
    assert error(run(demonstrations)).startswith(message.format(4096, "most 64"))
    section = {"heads": [2], "variants": ["rope"], "longest": [16, 64]}
    spans = {"mixture_weight": 1.0, "shortest_document": 4, "longest_document": 60}
    fits = {"pretrain.objectives": {"span_corruption": spans}, "generation.max_characters": 12}
    changes = {f"demonstrations.{key}": value for key, value in section.items()}
    change(changes | {f"recipes.quick.{key}": value for key, value in fits.items()})
    prepared = Prepared.load(project / "data/prepared/quick")
    texts = prepared.questions["train"], prepared.answers["train"]
    examples = question_examples(*texts, np.arange(len(texts[0])))  # what finetuning reads
    assert error(run(demonstrations)).startswith(message.format(64, f"least {examples.lengths.max()}"))
