"""The section on public runs: what it counts, and where it puts this project's seeds."""

import re
from pathlib import Path

import pandas as pd

from stages.reporting.public_runs import RUNS, draw_public, own_seeds, public_table
from tests.support.example import evaluated


def runs() -> pd.DataFrame:
    """Five runs of two variants, one with a fault that is the best of its variant."""
    rows = [("rope", 10.0, ""), ("rope", 30.0, ""), ("rope", 40.0, ""), ("rope", 99.0, "vanilla by code")]
    return pd.DataFrame([*rows, ("scratch", 1.0, "")], columns=["variant", "accuracy", "fault"])


def test_a_seed_has_its_rank_among_the_runs_without_a_known_fault() -> None:
    rope, scratch = public_table(runs(), {"rope": (50.0, 30.0, 5.0), "scratch": (2.0, 0.0)}).splitlines()[2:]
    assert rope == "| rope | 4 | 3 | 30.0 | 10.0 to 40.0 | 50.0 (1 of 4), 30.0 (2 of 4), 5.0 (4 of 4) |"
    assert scratch == "| scratch | 1 | 1 | 1.0 | 1.0 to 1.0 | 0.0 to 2.0 |"


def test_every_run_and_seed_is_drawn() -> None:
    (axes,) = draw_public(runs(), {"rope": (50.0, 30.0), "scratch": (2.0,)}).axes
    sound, faulty, seeds = (sorted(x for x, _ in dots.get_offsets().tolist()) for dots in axes.collections)
    assert (sound, faulty, seeds) == ([1.0, 10.0, 30.0, 40.0], [99.0], [2.0, 30.0, 50.0])


def test_a_variant_that_no_public_run_has_is_left_out_and_all_from_scratch_are_one(tmp_path: Path) -> None:
    marks = [[0] * 9 + [1]], [[1] * 3 + [0] * 7]
    evaluations = [evaluated(tmp_path, name, *marks, curve_rows=1) for name in ("rope", "wrnn")]
    assert own_seeds(evaluations, runs()) == {"rope": [30.0], "scratch": [10.0, 10.0]}


def test_the_runs_are_named_by_repository_path_and_commit_and_have_the_medians_that_others_found() -> None:
    """Medians of all files, as counted beside this project: 1.6, 23.0, 11.8, 9.5 and 31.9 % of 500."""
    table = pd.read_csv(RUNS, sep="\t", keep_default_na=False)
    assert len(table) == 344 and not table.duplicated(["variant", "repository"]).any()
    assert all(re.fullmatch(r"[0-9a-f]{40}", commit) for commit in table.commit) and (table.path != "").all()
    assert (table.fault.str.split().str.len() <= 3).all()
    medians = (table.groupby("variant").right_of_500.median() / 5).round(1).to_dict()
    assert medians == {"scratch": 1.6, "vanilla": 23.0, "synthesizer": 11.8, "perceiver": 9.5, "rope": 31.9}
