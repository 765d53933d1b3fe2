"""What a command cannot do is told in one line."""

from typing import Any

import pytest

from stages.commands import ask, sample, show
from tests.support.talking import ZOE, Run, error
from tests.support.tiny import VARIANTS

USUAL = {ask: [ZOE], sample: ["--recipe", "text", "--variant", "vanilla"], show: ["--recipe", "quick"]}


@pytest.mark.parametrize(
    ("command", "arguments", "parts"),
    [
        (ask, "--variant rope", ["no rope of quick with seed 1", "make it with: dvc exp run -S recipe="]),
        (ask, "--recipe handout", ["reports/handout/compared/metrics.json is missing", "--variant"]),
        (ask, "--recipe text", ["'text' has no questions", "stages sample --recipe text"]),
        (ask, "--variant nonsense", ["unknown variant 'nonsense'", *VARIANTS]),
        (ask, "--seed 2", ["no seed 2", "allowed: 1"]),
        (ask, "--at-least 1.1", ["argument --at-least: was 1.1; allowed: 0 to 1"]),
        (ask, "--at-least nan", ["argument --at-least: was nan; allowed: 0 to 1"]),
        (sample, "--prompt 漢", ["--prompt: '漢' has no character"]),
        (sample, "--temperature -1", ["temperature: was -1"]),
        (sample, "--top-p 0", ["top-p: was 0; allowed: more than 0"]),
        (sample, "--beams 2 --top-p 1 --temperature 1", ["it or --temperature, --top-p"]),
        (sample, "--variant rope", ["no rope of text", "make it with: dvc exp run pretrain -S recipe=text -S model"]),
        (show, "--page 9", ["--page: was 9; allowed: 1 to 8"]),
        (show, "--recipe open", ["data/prepared/open is missing; make it with: dvc exp run prepare -S recipe=open"]),
        (show, "--recipe nonsense", ["unknown recipe 'nonsense'"]),
    ],
)
def test_what_a_command_cannot_do_is_told_in_one_line(run: Run, command: Any, arguments: str, parts: list[str]) -> None:
    line = error(run(command, *USUAL[command], *arguments.split()))
    assert [part for part in parts if part not in line] == []
