"""A run of the benchmark on a tiny model, and its arithmetic; no figure of time is asserted."""

import json
from pathlib import Path
from typing import Any

import pytest

from stages.model.cpu import processor
from stages.plain.attention import ATTENTION
from stages.settings import load
from stages.system.errors import StudyError
from tests.benchmark import worker
from tests.benchmark.__main__ import LIMITS, benchmark, environment, parse, possible_classes
from tests.benchmark.products import linear_weights, product, serial_products, step_flop
from tests.benchmark.worker import row
from tests.benchmark.workload import PlainTraining, read_data
from tests.model.test_processor import FEATURES
from tests.support.invented import prepared_like_the_handout
from tests.support.project import with_sums, write_params
from tests.support.tiny import FLOAT32, HANDOUT, SETTINGS, VARIANTS, tiny_model

ON_CPU = SETTINGS.compute.model_copy(update={"device": "cpu"})


def be(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Let the processor be of a class, unlimited."""
    monkeypatch.delenv(processor.LIMIT, raising=False)
    monkeypatch.setattr(processor, "processor_features", lambda: FEATURES[name])


@pytest.mark.parametrize("own", FEATURES)
def test_a_processor_runs_as_its_own_class_and_all_slower_ones(own: str, monkeypatch: pytest.MonkeyPatch) -> None:
    be(monkeypatch, own)
    names = list(FEATURES)
    expected = ["other"] if own == "other" else names[names.index(own) : names.index("other")]
    assert possible_classes(ON_CPU) == expected


@pytest.mark.parametrize("name", LIMITS)
def test_a_class_s_environment_holds_a_faster_processor_to_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    be(monkeypatch, "amx")
    for key, value in environment(name).items():
        monkeypatch.setenv(key, value)
    assert processor.processor_class() == name


def test_a_class_that_the_machine_cannot_run_as_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    be(monkeypatch, "avx512")
    with pytest.raises(StudyError, match="--classes: was 'amx'; this machine can run as avx512, float32-avx2"):
        parse(SETTINGS.model_copy(update={"compute": ON_CPU}), ["--classes", "float32-avx2", "amx"])


def test_operations_of_the_handouts_model_and_of_products() -> None:
    weights = linear_weights(tiny_model("vanilla", vocabulary_size=256, model=HANDOUT.model))
    assert weights == 4 * 12 * 256**2 + 256 * 256  # blocks, head
    assert step_flop(weights, tokens=10) == 60 * weights
    multiply, flop = product(16, FLOAT32.dtype, FLOAT32.device)
    multiply()
    assert flop == 2 * 8192 * 16 * 64
    multiply, flop = serial_products([1, 3, 2], 8, 2, FLOAT32.device)
    multiply()
    assert flop == 2 * 2 * 2 * 6 * 8 * 8  # forward and backward, two recurrences, six characters


FACTS = {"flop": 12e9, "product_flop": 4e9, "serial_flop": 2e9, "questions": 500}
SECONDS = {
    "plain": [3.0, 5.0, 4.0],
    "compiled": [2.0],
    "study": [0.5, 0.4, 0.6],
    "product": [0.1],  # a peak of 4e10 operations a second
    "serial": [0.15],
    "question": [0.1],
    "questions": [2.0],
}


def test_a_row_tells_medians_ratios_and_shares() -> None:
    figures = row(FACTS | {"compile": {"seconds": 40.0}}, SECONDS)
    assert figures["plain"] == {"median": 4.0, "min": 3.0, "max": 5.0}
    assert (figures["study_over_plain"], figures["study_over_compiled"]) == (8, 4)
    assert figures["share_of_gemm_peak"] == 0.6  # 12e9 operations take 0.3 s at the peak
    limit = figures["recurrence"]
    assert limit["share_of_step"] == 0.3
    assert limit["shortest_step"] == 0.4  # 0.15 s, and 10e9 operations at the peak
    assert limit["largest_study_over_plain"] == 10
    assert figures["questions"]["plain"]["median"] == 50 and figures["questions"]["study_over_plain"] == 25


@pytest.fixture(name="project")
def project_fixture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project's folder with a tiny recipe and data for it."""

    def shrink(content: dict[str, Any]) -> None:
        content["compute"]["device"] = "cpu"
        recipe = content["recipes"]["handout"]
        recipe["model"] |= {"layers": 2, "heads": 2, "width": 16}
        recipe["pretrain"] |= {"batch_size": 4}
        recipe["generation"]["max_characters"] = 3

    write_params(tmp_path, shrink)
    (tmp_path / "data" / "prepared").mkdir(parents=True)
    tiny = prepared_like_the_handout(10, {"train": 4, "dev": 3, "test": 4})
    tiny.save(tmp_path / "data" / "prepared" / "handout")
    with_sums(tmp_path / "data" / "prepared" / "handout")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_cannot_be_compiled_is_told_and_the_other_sides_are_timed(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Refused(PlainTraining):
        def step(self) -> None:
            raise RuntimeError("the backend raised:\nno graph\nin three lines")

    monkeypatch.setattr(worker, "CompiledTraining", Refused)
    experiment = worker.Experiment.of(load(), "handout", "rnn")
    sides = worker.Sides(experiment, read_data("handout")[0], compiles=True, evaluates=True)
    assert sides.facts["compile"] == {"error": "no graph"}
    seconds = sides.rounds(2)
    assert seconds.keys() == {"plain", "study", "product", "serial", "question", "questions"}
    assert len(seconds["study"]) == 2 * worker.RUNS["study"]


def test_a_run_times_variants_as_each_class_and_keeps_other_rows(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = load()
    name = possible_classes(settings.compute)[-1]
    own = {"processor": worker.origin(FLOAT32)["processor"], "class": name, "recipe": "handout", "variant": "vanilla"}
    other = own | {"processor": "another"}
    (project / "reports").mkdir()
    (project / "reports" / "benchmark.json").write_text(json.dumps({"notes": {}, "rows": [own, other]}))
    chosen = ["--rounds", "1", "--classes", name, "--variants", "vanilla", "perceiver", "--compile"]
    benchmark(settings, parse(settings, chosen))
    rows = json.loads((project / "reports" / "benchmark.json").read_text())["rows"]
    rows.remove(other)
    assert [(row["class"], row["variant"]) for row in rows] == [(name, "vanilla"), (name, "perceiver")]
    for figures in rows:
        assert figures["cpu_capability"] == "AVX2" or name != "float32-avx2"
        assert {"commit", "torch", "kernels", "precision", "data", "rounds"} <= figures.keys()
        ratio = figures["plain"]["median"] / figures["study"]["median"]
        assert figures["study_over_plain"] == pytest.approx(ratio, rel=0.05)
    assert capsys.readouterr().out.count(name) == 2


def test_what_the_plain_reference_does_not_know_is_refused(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = load()
    with pytest.raises(StudyError, match="recipe quick: the plain reference knows span corruption"):
        parse(settings, ["--recipe", "quick"])
    monkeypatch.delitem(ATTENTION, VARIANTS[0])
    with pytest.raises(StudyError, match=f"variant '{VARIANTS[0]}' has no plain reference"):
        parse(settings, ["--variants", VARIANTS[0]])
