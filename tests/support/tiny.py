"""A tiny model and an invented corpus, small enough to train within a test."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from stages.corpus.example import Examples, columns
from stages.corpus.prepared import Prepared
from stages.corpus.questions import Question
from stages.experiment.experiment import Backend
from stages.model.gpt import GPT, settings_of
from stages.model.packing import Packing, Part
from stages.plain.attention import MIXERS
from stages.plain.model import PlainGPT
from stages.settings.params import ModelSettings, Recipe, SpanCorruption, TitleCloze, WordCloze, load

ROOT = Path(__file__).parents[2]
# What its reader selected last is nothing to the tests
COMPARED = ["vanilla", "rope", "synthesizer", "perceiver"]
SELECTED = {"recipe": "quick", "model.variant": "compared", "model.compared": COMPARED}
SETTINGS = load(ROOT / "params.yaml").changed(SELECTED)
VARIANTS = [*SETTINGS.variants]
# Those that come with the project, named: none may drop out of a table unseen. Others may have been added
BUILT_IN = [
    "vanilla", "rope", "nope", "window", "mqa", "synthesizer", "random_synthesizer", "perceiver", "perceiver_ar",
    "linear", "gated_deltanet", "min_gru", "rnn", "wrnn",
]  # fmt: skip
# Sections of the variants for tiny shapes: what a variant leaves out is left out within a tiny context, too
Sections = dict[str, dict[str, Any]]
SECTIONS: Sections = SETTINGS.variants | {
    "window": {"width": 6, "theta": 10_000.0},
    "perceiver": {"bottleneck": 12, "residual": True, "up_expansion": 4},
    "perceiver_ar": {"latents": 10},
}
HANDOUT: Recipe = SETTINGS.recipes["handout"]
MODEL = ModelSettings(layers=2, heads=4, width=32, context=64, dropout=0.0)
ROUNDING = 5e-5  # float32 logits of the order of one differ by so much at most; measured 1.3e-5
FLOAT32 = Backend(torch.device("cpu"), torch.float32)
BFLOAT16 = Backend(torch.device("cpu"), torch.bfloat16)
TABLES = ("positions", "mixer.scores", "mixer.table", "mixer.offsets", "latents")  # weights that no module has
SENSITIVE = "gated_deltanet"  # what it reads it normalises, at times next to nothing
needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")
GPU_FLOAT32 = Backend(torch.device("cuda"), torch.float32)
GPU_BFLOAT16 = Backend(torch.device("cuda"), torch.bfloat16)
IN_FLOAT32 = [pytest.param(FLOAT32, id="cpu float32"), pytest.param(GPU_FLOAT32, id="cuda float32", marks=needs_gpu)]
IN_BFLOAT16 = [
    pytest.param(BFLOAT16, id="cpu bfloat16"),
    pytest.param(GPU_BFLOAT16, id="cuda bfloat16", marks=needs_gpu),
]
BACKENDS = [*IN_FLOAT32, *IN_BFLOAT16]

ANY_PHRASE: dict[str, Any] = {"mixture_weight": 1.0, "salient": 0.0}
TITLE_CLOZE = TitleCloze(free_order=0.0, blanked_rows=0.0, **ANY_PHRASE)
WORD_CLOZE = WordCloze(words_before=3, words_after=2, common_words=None, in_order=0.0, **ANY_PHRASE)

BIRTHPLACES = {
    "Oda Quill": "Vell",
    "Tam Brae": "Ilm",
    "Ivo Senn": "Urr",
    "Mia Dahl": "Oss",
    "Lu Fane": "Kip",
    "Zoé Ark": "Brod",
    "Rex Holm": "Tarn",
    "Ann Yew": "Nebb",
}
DOCUMENTS = [f"{name}. Painter, born in {place}." for name, place in BIRTHPLACES.items()]
QUESTIONS = [
    Question(row, f"Where was {name} born?", name, place) for row, (name, place) in enumerate(BIRTHPLACES.items(), 1)
]
SPLITS = {"train": QUESTIONS, "dev": QUESTIONS, "test": [replace(question, place=None) for question in QUESTIONS]}


def tiny_model(
    variant: str, vocabulary_size: int = 40, seed: int = 0, model: ModelSettings = MODEL, sections: Sections = SECTIONS
) -> GPT:
    """The variant with the tiny shape, in evaluation mode, its weights drawn with the seed."""
    mixer_settings = settings_of(variant, sections, model)
    torch.manual_seed(seed)
    return GPT(variant, vocabulary_size, model, mixer_settings).eval()


def loud(model: GPT, seed: int = 0, std: float = 0.2) -> GPT:
    """The model with weights of ten times their usual size, or of `std`: logits differ well beyond rounding."""
    torch.manual_seed(seed)
    of_modules = [module.weight for module in model.modules() if isinstance(module, nn.Linear | nn.Embedding)]
    of_none = [weight for name, weight in model.named_parameters() if name.endswith(TABLES)]
    for weight in (*of_modules, *of_none):
        nn.init.normal_(weight, std=std)
    return model


def usual_std(variant: str) -> float:
    """The std of weights with which the fast path is held to the plain one: logits differ well beyond rounding."""
    return 0.05 if variant == SENSITIVE else 0.2


def padded(examples: Examples, context: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Inputs and targets (B, context - 1), the reference's one padded batch."""
    inputs, targets = (columns(tokens, context - 1) for tokens in (examples.inputs, examples.targets))
    return torch.from_numpy(inputs), torch.from_numpy(targets)


def plain_twin(variant: str, model: GPT, shape: ModelSettings = MODEL, sections: Sections = SECTIONS) -> PlainGPT:
    """The plain reference with the model's weights, in evaluation mode; a test of a variant without one is skipped."""
    if variant not in MIXERS:
        pytest.skip(f"{variant} has no plain reference in stages/plain/attention.py")
    return PlainGPT.of(variant, shape, sections[variant], model.state_dict()).eval()


def random_tokens(rows: int, length: int, seed: int = 0) -> torch.Tensor:
    """Tokens (rows, length) of a vocabulary of 40, other than PAD and MASK."""
    return torch.randint(2, 40, (rows, length), generator=torch.Generator().manual_seed(seed))


@torch.inference_mode()
def influence(model: GPT, length: int) -> torch.Tensor:
    """(length, length) bool: whether changing input i (row) changes logits t (column)."""
    tokens = random_tokens(1, length).expand(length + 1, length).clone()
    changed = torch.arange(length)
    tokens[changed, changed] = (tokens[changed, changed] - 1) % 38 + 2  # another token, no PAD, no MASK
    logits = model(tokens)  # the last row is the unchanged one
    return (logits[:-1] - logits[-1]).abs().amax(dim=-1) > ROUNDING


def tiny_prepared() -> Prepared:
    """The invented corpus, its eight questions in every split."""
    return Prepared.of(DOCUMENTS, SPLITS)


def packing_of(lengths: Iterable[Sequence[int]]) -> Packing:
    """Parts, each given by the lengths of its sequences, as wide as its longest."""
    return Packing(tuple(Part(tuple(part), max(part)) for part in lengths))


def spans(shortest: int, longest: int) -> SpanCorruption:
    """Settings of span corruption, the only objective."""
    return SpanCorruption(mixture_weight=1.0, shortest_document=shortest, longest_document=longest)


def params() -> dict[str, Any]:
    """The content of params.yaml, to be changed and written elsewhere."""
    return SETTINGS.model_dump()
