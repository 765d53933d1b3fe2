"""Settings of a result against today's: what means the same is the same, whichever code recorded it."""

from copy import deepcopy
from typing import Any

import pytest

from stages.settings.changes import other_setting

SCHEDULE = {"warmup_tokens": 10, "decay_epochs": 6.0, "min_lr_ratio": 0.1}
MADE: dict[str, Any] = {
    "variant": {"rope": {"theta": 10.0}},
    "recipe": {"model": {"dropout": 0.0}, "pretrain": {"epochs": 6, "schedule": SCHEDULE}},
}


def changed(section: str, **values: Any) -> dict[str, Any]:
    now = deepcopy(MADE)
    (now["recipe"]["pretrain"]["schedule"] if section == "schedule" else now["recipe"][section]).update(values)
    return now


@pytest.mark.parametrize(
    ("now", "other"),
    [
        (MADE, None),
        (changed("schedule", warmup_share=None), None),  # a key that came later, at the value of code without it
        (changed("schedule", warmup_share=0.5), "recipe.pretrain.schedule.warmup_share"),
        ({**MADE, "recipe": {**MADE["recipe"], "finetune": {"replay": 0.0}}}, None),  # a key that went
        ({**MADE, "recipe": {**MADE["recipe"], "finetune": {"replay": 1.0}}}, "recipe.finetune.replay"),
        (changed("schedule", decay_epochs=None), None),  # those of the run, six as before
        (changed("pretrain", epochs=7), "recipe.pretrain.epochs"),
        (changed("model", dropout=0.5), "recipe.model.dropout"),
        (changed("model", unheard_of=1), "recipe.model.unheard_of"),
        (MADE | {"variant": {"nope": {}}}, "variant.nope"),
        (MADE | {"variant": {"rope": {"theta": 20.0}}}, "variant.rope.theta"),
    ],
)
def test_what_means_the_same_is_the_same_both_ways(now: dict[str, Any], other: str | None) -> None:
    assert other_setting(MADE, now) == other
    assert (other_setting(now, MADE) is None) == (other is None)
