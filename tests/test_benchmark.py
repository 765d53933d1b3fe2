"""A run of the benchmark on a tiny model, and its arithmetic; no figure of time is asserted."""

import json
from pathlib import Path
from typing import Any

import pytest

from stages.system.errors import StudyError
from tests.benchmark.__main__ import alternate, benchmark, comparison, parse
from tests.benchmark.gemm import linear_weights, product, step_flop
from tests.invented import prepared_like_the_handout
from tests.project import write_params
from tests.reference.attention import ATTENTION
from tests.tiny import FLOAT32, HANDOUT, VARIANTS, tiny_model


def test_the_ratio_says_how_many_times_faster_the_fast_path_is() -> None:
    assert comparison("rope", "documents/s", [30, 40, 60], [480, 240, 1200], is_rate=True)["ratio"] == 12
    assert comparison("rope", "s", [50, 100, 150], [2, 1], is_rate=False) == {
        "variant": "rope",
        "what": "s",
        "ratio": pytest.approx(66.67),
        "plain": {"median": 100, "min": 50, "max": 150},
        "fast": {"median": 1.5, "min": 1, "max": 2},
    }


def test_operations_of_the_handouts_model_and_of_a_product() -> None:
    weights = linear_weights(tiny_model("vanilla", vocabulary_size=256, model=HANDOUT.model))
    assert weights == 4 * 12 * 256**2 + 256 * 256  # blocks, head
    assert step_flop(weights, tokens=10) == 60 * weights
    multiply, flop = product(16, FLOAT32.dtype, FLOAT32.device)
    multiply()
    assert flop == 2 * 8192 * 16 * 64


def test_sides_run_in_turn_after_their_warm_up() -> None:
    order: list[str] = []
    plain, fast = alternate(lambda: order.append("p"), lambda: order.append("f"), (1, 3), warm_up=2, rounds=2)
    assert "".join(order) == "pff" + "pfff" * 2
    assert (len(plain), len(fast)) == (2, 6)


@pytest.fixture(name="project")
def project_fixture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project's folder with a tiny recipe and data for it."""

    def shrink(content: dict[str, Any]) -> None:
        recipe = content["recipes"]["handout"]
        recipe["model"] |= {"layers": 2, "heads": 2, "width": 16}
        recipe["pretrain"] |= {"batch_size": 4}
        recipe["generation"]["max_characters"] = 3

    write_params(tmp_path, shrink)
    (tmp_path / "data" / "prepared").mkdir(parents=True)
    tiny = prepared_like_the_handout(10, {"train": 4, "dev": 3, "test": 4})
    tiny.save(tmp_path / "data" / "prepared" / "handout")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_run_compares_variants_says_what_it_ran_on_and_keeps_runs_of_other_settings(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", "AVX2")
    variants = ["vanilla", "perceiver"]
    arguments = ["--rounds", "1", "--device", "cpu", "--variants", *variants, "--precision"]
    for precision in ("float32", "bfloat16", "float32"):
        benchmark(parse([*arguments, precision]))
    runs = json.loads((project / "reports" / "benchmark.json").read_text())
    assert list(runs) == ["cpu bfloat16 AVX2", "cpu float32 AVX2"]
    run = runs["cpu float32 AVX2"]
    assert {"commit", "device", "libraries", "seconds", "data", "recipe", "notes"} <= run.keys()
    expected = [(variant, what) for variant in variants for what in ("training, documents/s", "3 questions, s")]
    assert [(each["variant"], each["what"]) for each in run["comparisons"]] == expected
    assert all(each["ratio"] > 0 for each in run["comparisons"])
    assert capsys.readouterr().out.count("training, documents/s") == 6


def test_what_the_plain_reference_does_not_know_is_refused(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(StudyError, match="recipe quick: the plain reference knows span corruption"):
        benchmark(parse(["--recipe", "quick"]))
    monkeypatch.delitem(ATTENTION, VARIANTS[0])
    with pytest.raises(StudyError, match=f"variant '{VARIANTS[0]}' has no plain reference"):
        benchmark(parse(["--variants", VARIANTS[0]]))
