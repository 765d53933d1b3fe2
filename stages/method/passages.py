"""Stage `passages`: what a model of a text writes by each way to choose its characters, and figures of that."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tqdm import tqdm

from stages.corpus.prepared import Prepared
from stages.experiment.provenance import provenance
from stages.experiment.trained import load_trained
from stages.inference.decoding import Pick, Sampler, greedy
from stages.inference.generation import passages
from stages.method.contrastive import Contrastive
from stages.model.gpt import GPT
from stages.settings import load
from stages.settings.measured import Passages
from stages.system.digests import result_folder
from stages.system.errors import Parser, StudyError, command
from stages.system.files import write_json
from stages.system.terminal import harmless

TEXT = "the text itself"
BEGINNING = 16  # characters of the text that a passage begins with
WORDS = 4  # words of a run in `repetition`
STRETCH = 20  # characters of a stretch in `copied`
Way = Pick | int | Contrastive  # int: the width of a beam
WAYS: dict[str, Way] = {
    "greedy": greedy,
    "beam search, 8 hypotheses": 8,
    "contrastive search, 5 candidates, α 0.6": Contrastive(candidates=5, alpha=0.6),
    "nucleus, 0.9": Sampler(seed=1, top_p=0.9),
    "top-k, 10": Sampler(seed=1, top_k=10),
    "any character": Sampler(seed=1),
}


@command
def main() -> None:
    """Let a model go on from many beginnings in every way, print the first passage of each, and write the figures."""
    Parser(description=main.__doc__).parse_args()
    started = time.perf_counter()
    settings = load()
    section = settings.passages
    trained = load_trained(settings, section.recipe, section.variant, None, "pretrain")
    prepared = trained.prepared
    own = from_text(prepared, section)

    rows = []
    for name, way in tqdm([(TEXT, None), *WAYS.items()], desc="passages"):
        tokens = own if way is None else continued(trained.model, own, way)
        rows.append({"way": name} | measured(trained.model, prepared, tokens))
    for row in rows:
        print(f"{row['way']}: likelihood {row['likelihood']}, repetition {row['repetition']}, copied {row['copied']}")
        print(*(f"    {harmless(line)}" for line in str(row["passage"]).split("\n")), sep="\n")

    made = provenance(section.model_dump(), trained.experiment.backend, time.perf_counter() - started)
    with result_folder(Path("data/passages")) as folder:
        write_json(folder / "passages.json", section.model_dump() | {"rows": rows, "provenance": made})


def from_text(prepared: Prepared, section: Passages) -> np.ndarray:
    """Return the text's own passages (passages, length), spread over it; raises StudyError where it is too short."""
    tokens = prepared.documents.tokens.astype(np.int64)
    length = BEGINNING + section.characters
    if len(tokens) < length:
        raise StudyError(f"params.yaml: passages.characters: was {section.characters}; most: {len(tokens) - BEGINNING}")
    starts = np.linspace(0, len(tokens) - length, section.beginnings).astype(int)
    return np.stack([tokens[start : start + length] for start in starts])


def continued(model: GPT, own: np.ndarray, way: Way) -> np.ndarray:
    """Return passages (passages, length) with the beginnings of `own`, continued by the model."""
    beginnings = own[:, :BEGINNING]
    characters = own.shape[1] - BEGINNING
    if isinstance(way, Contrastive):
        return np.hstack([beginnings, way.continued(model, beginnings, characters)])
    return np.hstack([beginnings, *passages(model, beginnings, characters, way)])


def measured(model: GPT, prepared: Prepared, tokens: np.ndarray) -> dict[str, Any]:
    """Return the figures of passages (passages, length), and the first one."""
    text = prepared.vocabulary.decode(prepared.documents.tokens)
    texts = [prepared.vocabulary.decode(passage) for passage in tokens]
    return {
        "likelihood": round(likelihood(model, tokens), 3),
        "repetition": round(float(np.mean([repetition(passage.split()) for passage in texts])), 3),
        "copied": round(float(np.mean([copied(passage[BEGINNING:], text) for passage in texts])), 3),
        "passage": texts[0],
    }


@torch.inference_mode()
def likelihood(model: GPT, texts: np.ndarray) -> float:
    """Return the mean log-probability, in nats, of the characters (passages, length) after the first BEGINNING.

    The model reads as much of the passage before each as its context holds, and at least half a context where there is.
    """
    half = model.context // 2
    end = texts.shape[1]
    tokens = torch.from_numpy(texts).to(model.head.weight.device)
    total = 0.0
    first = BEGINNING  # the first character that is not counted yet
    while first < end:
        start = max(0, first - half)
        last = min(start + model.context + 1, end)
        logits = model.eval()(tokens[:, start : last - 1]).log_softmax(dim=-1)  # (passages, T, V)
        chosen = logits.gather(2, tokens[:, start + 1 : last, None])[:, first - start - 1 :, 0]
        total += float(chosen.double().sum())
        first = last
    return total / (len(texts) * (end - BEGINNING))


def repetition(words: Sequence[str]) -> float:
    """Return the share of a passage's runs of WORDS words that stand in it before: seq-rep-4 of Welleck et al. 2020."""
    runs = [tuple(words[start : start + WORDS]) for start in range(len(words) - WORDS + 1)]
    return 1 - len(set(runs)) / len(runs) if runs else 0.0


def copied(passage: str, text: str) -> float:
    """Return the share of a passage's stretches of STRETCH characters that stand in a text."""
    stretches = [passage[start : start + STRETCH] for start in range(len(passage) - STRETCH + 1)]
    return float(np.mean([stretch in text for stretch in stretches])) if stretches else 0.0


if __name__ == "__main__":
    main()
