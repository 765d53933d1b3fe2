"""What a recipe needs is reckoned before it begins, and what cannot end well is refused."""

from math import inf

import pytest

from stages.settings.needs import check_needs, memory
from stages.system.errors import StudyError
from tests.support.tiny import SETTINGS

# peak resident megabytes of two steps of full contexts, less those before: an AMD Zen 4, our kernels
MEASURED = [
    # layers, width, context, batch, bytes a number, MB
    (4, 256, 128, 128, 2, 886),
    (4, 256, 128, 128, 4, 1877),
    (8, 512, 256, 16, 4, 1803),
]


@pytest.mark.parametrize(("layers", "width", "context", "batch", "size", "megabytes"), MEASURED)
def test_memory_is_reckoned_within_a_third(
    layers: int, width: int, context: int, batch: int, size: int, megabytes: int
) -> None:
    change = {"model": {"layers": layers, "width": width, "context": context}}
    change |= {phase: {"batch_size": batch} for phase in ("pretrain", "finetune")}
    recipe = SETTINGS.with_change("handout", change, seed=1, key="any").recipes["handout"]
    assert memory(recipe, size) / 2**20 == pytest.approx(megabytes, rel=1 / 3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model": {"layers": 1000, "width": 4096}}, "needs about 6,500 GiB"),
        ({"pretrain": {"batch_size": 10**6}}, "this machine has 8; lower model.layers"),
        ({"finetune": {"batch_size": 10**6}}, "this machine has 8; lower model.layers"),
    ],
)
def test_more_memory_than_there_is_is_refused_in_one_line(change: dict[str, object], message: str) -> None:
    changed = SETTINGS.with_change("quick", change, seed=1, key="any")
    with pytest.raises(StudyError, match=r"\Aparams\.yaml: recipes\.quick: a step of a full batch .*\Z") as refused:
        check_needs(changed, "quick", has=8 * 2**30, bytes_a_number=4)
    assert message in str(refused.value)
    check_needs(changed, "quick", has=inf, bytes_a_number=4)
