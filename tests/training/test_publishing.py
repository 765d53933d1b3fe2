"""Results are published together, with what they were trained with; what was trained once is not trained again."""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from stages.corpus.vocabulary import Vocabulary
from stages.experiment.experiment import Experiment
from stages.model.registry import settings_of
from stages.system.files import read_json, write_json
from stages.training.run import Run, Training, run
from tests.support.project import with_sums
from tests.support.tiny import FLOAT32, HANDOUT, SETTINGS, VARIANTS
from tests.training.test_loop import JOB

SEEDS = [1, 2]
Publish = Callable[..., list[int]]
VOCABULARY = Vocabulary.of(["some"])
OUTPUT = Path("data/weights/handout/vanilla/pretrained")
PUBLISHED = [f"seed-{seed}.{suffix}" for seed in SEEDS for suffix in ("csv", "json", "safetensors")]


@pytest.fixture(name="publish")
def publish_fixture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Publish:
    """A stage of some seeds in a folder of its own; gives those that were still to be trained."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("stages.training.run.go_apart", lambda experiment, seeds: False)
    (tmp_path / "prepared").mkdir()
    VOCABULARY.save(tmp_path / "prepared" / "vocabulary.json")
    with_sums(tmp_path / "prepared")
    section = settings_of(VARIANTS[0], SETTINGS.variants, HANDOUT.model)
    trained: list[int] = []

    def train(self: Run, name: str, training: Training, seed: int) -> None:
        trained.append(seed)
        (self.work / f"{name}.safetensors").write_bytes(bytes(1000 * seed))
        (self.work / f"{name}.csv").write_text("loss\n")
        write_json(self.work / f"{name}.json", {"seconds": 1.0})

    monkeypatch.setattr(Run, "_train", train)

    def publish(seeds: Sequence[int] = SEEDS, only: int | None = None) -> list[int]:
        recipe = HANDOUT.model_copy(update={"seeds": [*seeds]})
        experiment = Experiment("handout", VARIANTS[0], recipe, section, FLOAT32, 20.0, only_seed=only)
        trained.clear()

        def trainings(_: Path, seed: int) -> dict[str, Training]:
            return {f"seed-{seed}": Training(JOB, pytest.fail)}

        run("pretrain", experiment, {"epochs": 3}, OUTPUT, Path("prepared"), trainings=trainings)
        return [*trained]

    return publish


def test_a_further_seed_is_trained_alone_and_published_with_what_it_was_trained_with(
    publish: Publish, capsys: pytest.CaptureFixture[str]
) -> None:
    assert publish([1]) == [1]
    assert capsys.readouterr().err == ""
    (work,) = Path("work").iterdir()
    (work / "seed-1.checkpoint").write_text("left by a kill")
    assert publish([1, 2]) == [2]
    told = f"pretrain-handout-vanilla, seed 1: trained before; to train all its seeds anew, delete {work}\n"
    assert capsys.readouterr().err == told
    assert not (work / "seed-1.checkpoint").exists()
    assert sorted(path.name for path in OUTPUT.iterdir()) == sorted(["SHA256SUMS", "provenance.json", *PUBLISHED])
    made = read_json(OUTPUT / "provenance.json")
    assert made["settings"] == {"epochs": 3, "seeds": SEEDS} and made["vocabulary_sha256"] == VOCABULARY.sha256
    assert publish([3, 2]) == [3]
    assert {path.stem for path in OUTPUT.glob("seed-*")} == {"seed-2", "seed-3"}  # those that are asked for, no others
    assert publish([4, 2], only=4) == [4]
    assert not list(OUTPUT.glob("seed-4*"))  # one alone is not published


@pytest.mark.parametrize(
    "damage", [lambda whole: whole[: len(whole) // 2], lambda _: b"", lambda whole: bytes([whole[0] ^ 1]) + whole[1:]]
)
@pytest.mark.parametrize("suffix", ["safetensors", "csv", "json", "sha256"])
def test_what_was_damaged_since_it_was_trained_is_trained_anew_and_never_published(
    publish: Publish, capsys: pytest.CaptureFixture[str], suffix: str, damage: Callable[[bytes], bytes]
) -> None:
    publish([1, 2])
    published = {path.name: path.read_bytes() for path in OUTPUT.iterdir()}
    (damaged,) = Path("work").glob(f"*/seed-2.{suffix}")
    damaged.write_bytes(damage(damaged.read_bytes()))
    shutil.rmtree(OUTPUT)
    capsys.readouterr()
    assert publish([1, 2]) == [2]
    assert f"{damaged.with_suffix('.*')}: damaged, so it is trained anew" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in OUTPUT.iterdir()} == published
