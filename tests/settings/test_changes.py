"""Settings of a result against today's."""

from copy import deepcopy
from typing import Any

import pytest

from stages.settings.section import other_setting

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
        (changed("schedule", warmup_share=None), "recipe.pretrain.schedule.warmup_share"),  # a key of one of them
        (changed("pretrain", epochs=7), "recipe.pretrain.epochs"),
        (changed("model", dropout=0.5), "recipe.model.dropout"),
        (changed("model", unheard_of=1), "recipe.model.unheard_of"),
        (MADE | {"variant": {"nope": {}}}, "variant.nope"),
        (MADE | {"variant": {"rope": {"theta": 20.0}}}, "variant.rope.theta"),
    ],
)
def test_the_first_other_setting_is_found_both_ways(now: dict[str, Any], other: str | None) -> None:
    assert other_setting(MADE, now) == other
    assert (other_setting(now, MADE) is None) == (other is None)
