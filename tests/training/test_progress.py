"""Which of how many trainings one is: counted by hand, true in whatever order DVC runs the variants."""

from dataclasses import replace
from pathlib import Path

import pytest
from tqdm import tqdm

from stages.experiment.experiment import Experiment
from stages.model.registry import settings_of
from stages.system.files import write_json
from stages.training.loop import BAR
from stages.training.progress import title, trained
from tests.tiny import BUILT_IN, FLOAT32, HANDOUT, SETTINGS

COLUMNS = 80


def experiment_of(variant: str, selected: list[str], seeds: list[int]) -> Experiment:
    recipe = HANDOUT.model_copy(update={"seeds": seeds})
    section = settings_of(variant, SETTINGS.variants, recipe.model)
    sections = {name: SETTINGS.variants[name] for name in selected}
    return Experiment("handout", variant, recipe, section, FLOAT32, 20.0, selected=sections)


def publish(experiment: Experiment, output: str) -> None:
    """Leave what a stage leaves when all its seeds are trained."""
    sections = {"pretrained": ("pretrain",), "finetuned": ("finetune", "pretrain")}[output]
    settings = experiment.settings(*sections) | {"seeds": experiment.recipe.seeds}
    folder = experiment.weights_folder / output
    folder.mkdir(parents=True)
    write_json(folder / "provenance.json", {"settings": settings})


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_trainings_of_a_selection_are_numbered_from_the_first_to_the_last() -> None:
    told = []
    for variant in ("rope", "vanilla"):  # DVC's order, not that of the list
        experiment = experiment_of(variant, ["vanilla", "rope"], [1, 2])
        told += [title(experiment, "pretrain", seed) for seed in (1, 2)]
        publish(experiment, "pretrained")
        told += [title(experiment, f"finetune_{init}", seed) for init in ("scratch", "pretrained") for seed in (1, 2)]
        publish(experiment, "finetuned")
    words = [
        f"{variant} {phase}, seed {seed}"
        for variant in ("rope", "vanilla")
        for phase in ("pretrain", "scratch", "finetune")
        for seed in (1, 2)
    ]
    assert told == [f"{number} of 12 {each}" for number, each in enumerate(words, 1)]


def test_what_is_there_with_other_settings_or_broken_is_still_to_be_trained() -> None:
    rope = experiment_of("rope", ["vanilla", "rope"], [1, 2])
    publish(rope, "pretrained")
    publish(rope, "finetuned")
    phases = ("pretrain", "finetune_scratch", "finetune_pretrained")
    assert trained(rope) == {("rope", phase) for phase in phases}
    assert trained(experiment_of("rope", ["vanilla"], [1, 2])) == set()
    assert trained(experiment_of("rope", ["vanilla", "rope"], [1, 2, 3])) == set()
    assert trained(replace(rope, selected={"rope": {"theta": 500.0}})) == set()
    shorter = HANDOUT.finetune.model_copy(update={"scratch_epochs": 2})
    refined = replace(rope, recipe=rope.recipe.model_copy(update={"finetune": shorter}))
    assert trained(refined) == {("rope", "pretrain")}
    (rope.weights_folder / "pretrained" / "provenance.json").write_text("{")
    assert trained(rope) == set()


def test_a_training_of_a_stage_that_is_run_again_has_the_number_it_had() -> None:
    rope = experiment_of("rope", ["rope"], [7])
    for output in ("pretrained", "finetuned"):
        publish(rope, output)
    assert title(rope, "finetune_pretrained", 7) == "3 of 3 rope finetune, seed 7"


def test_what_is_not_selected_has_no_number() -> None:
    assert title(experiment_of("rope", [], [1]), "finetune_scratch", 1) == "handout rope scratch, seed 1"
    assert title(experiment_of("rope", ["vanilla"], [1]), "pretrain", 1) == "handout rope pretrain, seed 1"


def test_no_result_depends_on_the_selection() -> None:
    alone, among = (experiment_of("rope", selected, [1]) for selected in ([], ["vanilla", "rope"]))
    assert alone.settings("pretrain") == among.settings("pretrain")


@pytest.mark.parametrize("variant", BUILT_IN)
def test_a_bar_shows_the_time_that_is_left_on_a_terminal_of_80_columns(variant: str) -> None:
    name = title(experiment_of(variant, BUILT_IN, [1, 2, 3]), "finetune_scratch", 3)
    steps, hour = 14_950, 3600
    bar = tqdm.format_meter(7475, steps, 1.5 * hour, ncols=COLUMNS, prefix=name, bar_format=BAR, postfix="loss=1.234")
    assert len(bar) <= COLUMNS
    assert f"{name} |" in bar and "7475/14950 [1:30:00<1:30:00" in bar
