"""What a training's bar is called: which variant of how many, and room for the bar on a terminal of 80 columns."""

from dataclasses import replace

from tqdm import tqdm

from stages.experiment.experiment import Experiment
from stages.training.loop import BAR
from tests.support.tiny import BUILT_IN, SETTINGS


def test_a_title_says_which_of_the_selected_variants_is_trained() -> None:
    rope = Experiment.of(SETTINGS, "handout", "rope")
    assert replace(rope, selected=("vanilla", "rope")).title("pretrain", 2) == "2 of 2: rope pretrain, seed 2"
    assert replace(rope, selected=("rope",)).title("finetune_scratch", 1) == "rope scratch, seed 1"
    assert replace(rope, selected=("nope", "vanilla")).title("finetune_pretrained", 1) == "rope finetune, seed 1"


def test_a_bar_shows_the_time_that_is_left_on_a_terminal_of_80_columns() -> None:
    cell = replace(Experiment.of(SETTINGS, "handout", max(BUILT_IN, key=len)), selected=tuple(BUILT_IN))
    title, steps, hour = cell.title("finetune_scratch", 3), 14_950, 3600
    bar = tqdm.format_meter(7475, steps, 1.5 * hour, ncols=80, prefix=title, bar_format=BAR, postfix="loss=1.234")
    assert len(bar) <= 80
    assert f"{title} |" in bar and "7475/14950 [1:30:00<1:30:00" in bar
