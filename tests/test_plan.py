"""What `make study` says before it begins: counts by hand, and a line instead of a traceback."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from stages import plan
from stages.experiment.backend import Backend
from stages.experiment.experiment import Experiment
from tests.project import write_params
from tests.test_pipeline import small
from tests.tiny import BFLOAT16, FLOAT32, SETTINGS

Planned = Callable[..., list[str]]


@pytest.fixture(name="planned")
def planned_fixture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Planned:
    """The lines of the plan of a small study, changed, in a folder of its own."""

    def planned(change: Callable[[dict[str, Any]], None] = lambda content: None) -> list[str]:
        def changed(content: dict[str, Any]) -> None:
            small(content)
            change(content)

        write_params(tmp_path, changed)
        monkeypatch.chdir(tmp_path)
        threads = torch.get_num_threads()
        plan.main()
        torch.set_num_threads(threads)
        return capsys.readouterr().out.splitlines()

    return planned


def test_a_plan_counts_the_trainings_and_times_them(planned: Planned) -> None:
    recipe, trainings, duration, machine = planned()
    assert recipe == "Recipe quick: vanilla, rope; 1 seed each."
    assert trainings.startswith("6 trainings: ")  # two variants, each pretrained and finetuned twice
    assert duration.startswith("Time: about ") and duration.endswith(" min on this machine, by steps tried now:")
    assert "of class" in machine and "float32" in machine
    assert planned(lambda content: content["model"].update(variant="all"))[1].startswith("9 trainings: ")


def test_a_plan_tells_what_is_there_already(planned: Planned, monkeypatch: pytest.MonkeyPatch) -> None:
    there = {("rope", "pretrain"), ("rope", "finetune_scratch")}
    monkeypatch.setattr(plan, "trained", lambda experiment: there)
    monkeypatch.setattr(plan, "estimate", lambda cells, missing, settings: 60.0 * len(missing))
    lines = planned(lambda content: content["recipes"]["quick"].update(seeds=[1, 2]))
    assert [line.split()[0] for line in lines[1:3]] == ["12", "4"]
    assert lines[3].startswith("Time: about 4 min ")  # of 6 phases of variants 4 are missing
    there |= {(variant, phase) for variant in ("vanilla", "rope") for phase in plan.PHASES}
    assert len(planned()) == 3  # nothing to time


def test_a_step_that_cannot_be_tried_does_not_keep_the_study_from_beginning(
    planned: Planned, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> float:
        raise RuntimeError("no such thing")

    monkeypatch.setattr(plan, "estimate", fail)
    assert planned()[2] == "Time: not known, as no step could be tried (no such thing):"


def test_a_mistake_in_the_settings_is_told_in_one_line(planned: Planned) -> None:
    with pytest.raises(SystemExit, match=r"^error: params\.yaml: recipe: was 'quack'; allowed: quick$"):
        planned(lambda content: content.update(recipe="quack"))


def test_the_time_is_that_of_the_missing_steps_and_of_the_rest() -> None:
    steps = {("vanilla", "pretrain"): 100, ("rope", "pretrain"): 100, ("rope", "finetune_scratch"): 10}
    paces = {("vanilla", "pretrain"): 0.25, ("rope", "pretrain"): 0.75}  # of the third the mean, 0.5
    found = plan.seconds_left(steps, paces, rounds=1.5)
    assert found == pytest.approx(1.5 * (25 + 75 + 5) + plan.REST + 2 * plan.REST_A_VARIANT)


@pytest.mark.parametrize(("seeds", "threads", "rounds"), [(1, 1, 1), (2, 1, 2), (2, 2, 1), (3, 2, 1.5), (2, 8, 1)])
def test_seeds_take_turns_where_there_are_more_than_threads(seeds: int, threads: int, rounds: float) -> None:
    assert plan.rounds(seeds, threads) == rounds


@pytest.mark.parametrize(("seconds", "words"), [(5, "1 min"), (540, "9 min"), (541, "10 min"), (3700, "1 h 2 min")])
def test_a_duration_is_rounded_up_to_minutes(seconds: float, words: str) -> None:
    assert plan.spoken(seconds) == words


def test_what_is_invented_for_data_that_are_not_here_is_as_large_as_they_are() -> None:
    prepared = plan.invented(Experiment.of(SETTINGS, "handout", "rope"), SETTINGS)
    assert len(prepared.documents) == 2937  # lines of wiki.txt
    assert {split: len(asked) for split, asked in prepared.questions.items()} == {
        "train": 2000,
        "dev": 500,
        "test": 437,
    }


@pytest.mark.parametrize(
    ("backend", "fast", "kernels", "words", "lines"),
    [
        (BFLOAT16, True, "kernels-1", ", bfloat16, compiled kernels", 1),
        (FLOAT32, False, "kernels-1", ", float32 as it multiplies no bfloat16, compiled kernels", 1),
        (FLOAT32, True, "torch", ", float32, no compiled kernels.", 2),
    ],
)
def test_the_reason_of_the_time_is_given(
    monkeypatch: pytest.MonkeyPatch, backend: Backend, fast: bool, kernels: str, words: str, lines: int
) -> None:
    monkeypatch.setattr(plan, "multiplies_bfloat16", lambda: fast)
    monkeypatch.setattr(plan, "processor_class", lambda: "avx512")
    monkeypatch.setattr(Backend, "kernels", kernels)
    first, *remedy = plan.machine(backend).splitlines()
    assert first.endswith(f"of class avx512{words}")
    assert len(remedy) == lines - 1
