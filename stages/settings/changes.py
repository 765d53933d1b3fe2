"""Settings that changed since a result recorded them."""

import json
from collections.abc import Mapping
from typing import Any


def written(value: Any) -> str:
    """Write a value as params.yaml has it."""
    return value if isinstance(value, str) else json.dumps(value)


def other_setting(made: Mapping[str, Any], now: Mapping[str, Any], *ignored: str) -> str | None:
    """Find the first dotted key whose value in a result's record is not today's; None where all are the same.

    made, now: `Experiment.settings`; ignored: keys that may differ.
    """
    before, after = leaves(made), leaves(now)
    keys = [key for key in {**after, **before} if key not in ignored]
    return next((key for key in keys if key not in before or key not in after or before[key] != after[key]), None)


def leaves(content: Any, key: str = "") -> dict[str, Any]:
    """List each value by its dotted key; a list is one value, and so is an empty section."""
    if not isinstance(content, dict) or not content:
        return {key: content}
    values: dict[str, Any] = {}
    for name, value in content.items():
        values |= leaves(value, f"{key}.{name}".lstrip("."))
    return values
