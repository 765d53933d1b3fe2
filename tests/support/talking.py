"""A project with a tiny model that has learned eight pages and a rhyme, and what its commands say."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

RHYME = "The cat sat on the mat.\n"
ZOE = "Where was Zoé Ark born?"
RUN = """
import importlib, sys
for line in sys.argv[1:]:
    module, *sys.argv[1:] = line.split()
    importlib.import_module(module).main()
"""
QUICK = "--recipe quick --variant vanilla"
TEXT = "--recipe text --variant vanilla"
STAGES = (
    *(f"stages.pretrain {QUICK}", f"stages.finetune {QUICK}"),
    *("stages.text", "stages.prepare --recipe text", f"stages.pretrain {TEXT}"),
)


def tiny(content: dict[str, Any]) -> None:
    """Trainings of seconds, of one variant; both models know their texts by heart."""
    content["compute"] |= {"device": "cpu", "precision": "float32"}
    content["sources"]["text"]["path"] = "rhyme.txt"
    for name, context, epochs in (("quick", 64, 20), ("text", 32, 200)):
        recipe = content["recipes"][name]
        recipe["seeds"] = [1]
        recipe["model"] |= {"layers": 2, "heads": 2, "width": 64, "context": context, "dropout": 0.0}
        recipe["pretrain"] |= {"epochs": epochs, "batch_size": 8, "learning_rate": 0.01}
        recipe["pretrain"]["schedule"] = {"warmup_tokens": 100, "decay_epochs": None, "min_lr_ratio": 0.1}
    quick = content["recipes"]["quick"]
    quick["pretrain"]["objectives"]["span_corruption"]["longest_document"] = 60
    quick["finetune"] |= {"scratch_epochs": 1, "pretrained_epochs": 120, "batch_size": 8, "learning_rate": 0.01}
    quick["finetune"]["schedule"] |= {"warmup_tokens": 100, "decay_epochs": 120}


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    code: int
    out: str
    err: str


Run = Callable[..., Outcome]
ChangeParams = Callable[[Mapping[str, Any]], None]


def answers(out: str) -> list[tuple[str, float]]:
    """The printed answers with their shares."""
    rows = [line.rsplit(maxsplit=1) for line in out.splitlines()]
    return [(answer, float(share.removesuffix("%")) / 100) for answer, share in rows]


def error(outcome: Outcome) -> str:
    """The one line in which a command failed; the usage may stand above what is wrong with an option."""
    *usage, line = filter(None, outcome.err.splitlines())
    assert (outcome.code, outcome.out) == (2 if usage else 1, "")
    assert line.startswith("error: ")
    return line
