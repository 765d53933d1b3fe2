"""The benchmark's arithmetic, table and file, and a run of it on a tiny model; no figure of time is asserted."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tqdm import tqdm

from stages.settings import load
from stages.system.errors import StudyError
from tests.benchmark.__main__ import benchmark, experiments, parse
from tests.benchmark.results import evaluation, key, save, table, training, training_side
from tests.benchmark.timing import Side, alternate
from tests.benchmark.workload import read_data
from tests.invented import prepared_like_the_handout
from tests.project import write_params
from tests.reference.attention import ATTENTION
from tests.tiny import VARIANTS

PLAIN = training_side([4.0, 2.0, 3.0], documents=120, tokens=[5000, 7000])
FAST = training_side([0.5, 0.1, 0.25], documents=120, tokens=[5000, 7000])
TRAINING = training("rope", PLAIN, FAST)
EVALUATION = evaluation("rope", 500, plain=[0.1, 0.2, 0.3], fast=[2.0, 1.0])


def test_a_side_of_training_is_told_by_its_median_step() -> None:
    assert PLAIN["documents_per_second"] == 40
    assert PLAIN["tokens_per_second"] == 2000
    assert FAST["seconds_per_step"] == {"median": 0.25, "min": 0.1, "max": 0.5}


def test_the_ratio_says_how_many_times_faster_the_fast_path_is() -> None:
    assert TRAINING["ratio"] == 12
    assert EVALUATION["ratio"] == pytest.approx(500 * 0.2 / 1.5, abs=0.01)
    assert EVALUATION["plain"]["seconds"] == {"median": 100, "min": 50, "max": 150}
    cells = [line.split() for line in table([TRAINING, EVALUATION]).splitlines()]
    assert [line[-3:] for line in cells] == [
        ["plain", "fast", "ratio"],
        ["40.00", "480.00", "12.0"],
        ["100.00", "1.50", "66.7"],
    ]


def test_sides_run_in_turn_after_their_warm_up() -> None:
    order: list[str] = []

    def note(name: str) -> Callable[[], None]:
        return lambda: order.append(name)

    sides = {"plain": Side(note("p"), warm_up=1, repeats=1), "fast": Side(note("f"), warm_up=2, repeats=3)}
    with tqdm(disable=True) as bar:
        seconds = alternate(sides, rounds=2, bar=bar)
    assert "".join(order) == "pff" + "pfff" * 2
    assert {name: len(each) for name, each in seconds.items()} == {"plain": 2, "fast": 6}
    assert min(seconds["plain"]) >= 0


def test_runs_of_other_settings_stay_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "reports" / "benchmark.json"
    capped = key("cpu", "float32", "AVX512_CORE")
    save(path, key("cpu", "bfloat16", None), {"rounds": 1})
    save(path, capped, {"rounds": 2})
    save(path, capped, {"rounds": 3})
    assert json.loads(path.read_text()) == {"cpu bfloat16": {"rounds": 1}, "cpu float32 AVX512_CORE": {"rounds": 3}}


def test_without_prepared_data_documents_are_invented(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    prepared, what = read_data("handout", None)
    assert what.startswith("invented")
    assert len(prepared.vocabulary) == 256
    assert len(prepared.documents) == 2937
    assert prepared.documents.lengths.mean() == pytest.approx(141, abs=5)
    assert len(prepared.questions["dev"]) == 500
    assert prepared.questions["dev"].lengths.mean() == pytest.approx(31, abs=1)


@pytest.fixture(name="project")
def project_fixture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project's folder with a tiny recipe and data for it."""

    def shrink(content: dict[str, Any]) -> None:
        recipe = content["recipes"]["handout"]
        recipe["model"] |= {"layers": 2, "heads": 2, "width": 16}
        recipe["pretrain"] |= {"batch_size": 4}
        recipe["generation"]["max_characters"] = 3

    write_params(tmp_path, shrink)
    prepared_like_the_handout(10, {"train": 4, "dev": 4, "test": 4}).save(tmp_path / "tiny")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_run_compares_variants_and_says_what_it_ran_on(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", "AVX2")
    variants = ["vanilla", "perceiver"]
    arguments = ["--data", "tiny", "--rounds", "1", "--questions", "3", "--device", "cpu", "--variants", *variants]
    benchmark(parse([*arguments, "--precision", "float32"]))
    benchmark(parse([*arguments[:-1], "--precision", "bfloat16"]))
    runs = json.loads((project / "reports" / "benchmark.json").read_text())
    assert list(runs) == ["cpu bfloat16 AVX2", "cpu float32 AVX2"]
    run = runs["cpu float32 AVX2"]
    assert {"commit", "device", "libraries", "seconds", "data", "recipe", "notes"} <= run.keys()
    expected = [(variant, what) for variant in variants for what in ("training", "evaluation of 3 questions")]
    assert [(each["variant"], each["what"]) for each in run["comparisons"]] == expected
    assert all(each["ratio"] > 0 for each in run["comparisons"])
    assert "training, documents/s" in capsys.readouterr().out


def test_every_variant_that_has_a_plain_reference_is_compared(project: Path) -> None:
    cells = experiments(load(), parse(["--device", "cpu"]))
    assert [each.variant for each in cells] == [variant for variant in VARIANTS if variant in ATTENTION]


def test_a_recipe_that_the_plain_reference_does_not_know_is_refused(project: Path) -> None:
    with pytest.raises(StudyError, match="recipe quick: the plain reference knows span corruption"):
        benchmark(parse(["--recipe", "quick"]))
    with pytest.raises(StudyError, match="unknown variant 'none'"):
        benchmark(parse(["--variants", "none"]))


def test_a_variant_without_a_plain_reference_is_refused(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(ATTENTION, VARIANTS[0])
    with pytest.raises(StudyError, match=f"variant '{VARIANTS[0]}' has no plain reference"):
        benchmark(parse(["--variants", VARIANTS[0]]))
