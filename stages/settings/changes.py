"""Settings that changed since a result recorded them."""

import json
from collections.abc import Mapping
from typing import Any

# Keys that only older or only later code records, each with the value at which both do the same
OTHER_CODE: Mapping[str, Any] = {
    "recipe.pretrain.schedule.warmup_share": None,
    "recipe.finetune.schedule.warmup_share": None,
    "recipe.finetune.replay": 0.0,
    "recipe.pretrain.own_epochs": None,
    "variant.perceiver.up_expansion": 4,
    "recipe.finetune.scratch_learning_rate": None,
    "recipe.optimizer.betas": [0.9, 0.95],
    "recipe.pretrain.objectives.span_corruption.largest_span": 0.5,
    "recipe.pretrain.objectives.title_cloze.longest_context": 32,
    "recipe.pretrain.objectives.title_cloze.blanked_characters": 0.3,
    "recipe.pretrain.objectives.word_cloze.past_answers": False,
    "recipe.pretrain.objectives.word_cloze.most_words": 4,
}


def written(value: Any) -> str:
    """Write a value as params.yaml has it."""
    return value if isinstance(value, str) else json.dumps(value)


def other_setting(made: Mapping[str, Any], now: Mapping[str, Any], *ignored: str) -> str | None:
    """Find the first dotted key whose value in a result's record is not today's; None where both mean the same.

    made, now: `Experiment.settings`; ignored: keys that may differ.
    """
    before = _in_todays_terms(made)
    after = _in_todays_terms(now)
    keys = [key for key in {**after, **before} if key not in ignored]
    return next((key for key in keys if key not in before or key not in after or before[key] != after[key]), None)


def _in_todays_terms(record: Mapping[str, Any]) -> dict[str, Any]:
    settings = leaves(record)
    if settings.get("recipe.pretrain.schedule.decay_epochs", ...) is None:
        settings["recipe.pretrain.schedule.decay_epochs"] = settings.get("recipe.pretrain.epochs")
    return {**OTHER_CODE, **settings}


def leaves(content: Any, key: str = "") -> dict[str, Any]:
    """List each value by its dotted key; a list is one value, and so is an empty section."""
    if not isinstance(content, dict) or not content:
        return {key: content}
    values: dict[str, Any] = {}
    for name, value in content.items():
        values |= leaves(value, f"{key}.{name}".lstrip("."))
    return values
