"""The stage `probe` in a project of its own: what it writes, and that the report of it reveals nothing."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from stages import probe
from stages.corpus.prepared import read_table, write_table
from stages.experiment.tensors import save_tensors
from stages.model.gpt import GPT
from stages.probing.forms import PAGE_FORMS
from stages.probing.shifts import SHIFTS
from stages.reporting.sections.inventions import inventions_part
from stages.reporting.sections.knowledge import knowledge_part
from stages.reporting.sections.saliency import saliency_part
from stages.reporting.sections.shifts import shifts_part
from stages.system.files import folder_hash
from tests.probing.toy import learned, toy_audit, toy_prepared
from tests.project import write_params
from tests.tiny import BIRTHPLACES, MODEL, loud, tiny_model

SEEDS = [1, 2]


def tiny(content: dict[str, Any]) -> None:
    """A recipe of the tiny shape."""
    content["compute"] |= {"device": "cpu", "precision": "float32"}
    content["probe"] |= {"people": 3}
    recipe = content["recipes"]["quick"]
    recipe["seeds"] = SEEDS
    recipe["model"] = MODEL.model_dump()
    recipe["pretrain"]["objectives"]["span_corruption"] |= {"shortest_document": 4, "longest_document": 63}
    recipe["generation"]["max_characters"] = 8


def predictions(right: int) -> pd.DataFrame:
    """predictions.tsv in which the first so many questions of dev are answered right."""
    rows = []
    for seed in SEEDS:
        for init in ("scratch", "pretrained"):
            for split in ("dev", "test"):
                for row, (name, gold) in enumerate(BIRTHPLACES.items(), 1):
                    correct = int(row <= right and init == "pretrained")
                    rows.append(
                        {
                            **{"variant": "vanilla", "split": split, "row": row, "seed": seed, "init": init},
                            "question": f"Where was {name} born?",
                            "gold": "" if split == "test" else gold,
                            "predicted": gold if correct and split == "dev" else "Zub",
                            "correct": "" if split == "test" else correct,
                            "probability": 0.5,
                        }
                    )
    return pd.DataFrame(rows)


@pytest.fixture(name="folder")
def folder_fixture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a model that learned the pages by heart and then was finetuned to nonsense."""
    write_params(tmp_path, tiny)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["probe", "--recipe", "quick", "--variant", "vanilla"])
    toy_prepared().save(Path("data/prepared/quick"))
    write_table(Path("data/prepared/quick/audit.tsv"), toy_audit())
    Path("data/evaluations/quick/vanilla").mkdir(parents=True)
    write_table(Path("data/evaluations/quick/vanilla/predictions.tsv"), predictions(right=3))
    nonsense = loud(tiny_model("vanilla", len(toy_prepared().vocabulary)))
    for seed in SEEDS:
        save(learned(PAGE_FORMS), f"pretrained/seed-{seed}")
        save(nonsense, f"finetuned/pretrained-seed-{seed}")
    return tmp_path


def save(model: GPT, name: str) -> None:
    save_tensors(Path(f"data/weights/quick/vanilla/{name}.safetensors"), model.state_dict())


def test_what_is_known_and_what_is_said_is_written(folder: Path) -> None:
    probe.main()
    made = folder / "data" / "probes" / "quick" / "vanilla"
    assert {path.name for path in made.iterdir()} == {"knowledge.tsv", "shifted.tsv", "invented.tsv", "probe.json"}
    known = read_table(made / "knowledge.tsv")
    assert list(known.columns[:6]) == ["variant", "seed", "row", "position", "train_count", "born"]
    assert known.groupby("seed")["row"].apply(list).to_dict() == {seed: list(range(1, 9)) for seed in SEEDS}
    for form in PAGE_FORMS:
        assert (known[f"pretrained_{form}"] == 1).all() and (known[f"finetuned_{form}"] == 0).all()
    assert known.finetuned_question.tolist() == [1, 1, 1, 0, 0, 0, 0, 0] * 2  # as the evaluation has it
    shifted = read_table(made / "shifted.tsv")
    assert list(shifted.columns) == ["variant", "seed", "row", "shift", "pretrained", "finetuned"]
    assert shifted.groupby(["seed", "shift"])["row"].apply(list).tolist() == [list(range(1, 9))] * 2 * len(SHIFTS)
    assert (shifted.pretrained[shifted["shift"] == 0] == 1).all() and (shifted.finetuned == 0).all()
    assert (shifted.pretrained[shifted["shift"] > 0] == 0).any()  # this model has read no page that begins further on
    said = read_table(made / "invented.tsv")
    assert list(said.columns) == ["variant", "seed", "culture", "name", "answer", "probability"]
    assert said.groupby(["seed", "culture"]).size().max() == 3
    assert not set(said["name"]) & set(BIRTHPLACES)
    record = json.loads((made / "probe.json").read_text(encoding="utf-8"))
    assert (record["questions"], record["facts"], record["seeds"]) == (8, 8, SEEDS)
    assert record["trained_forms"] == ["continuation", "cloze", "infilling"]  # the recipe has no word clozes
    of_dev = next(each for each in record["origins"] if each["init"] == "pretrained" and each["split"] == "dev")
    assert (of_dev["answers"], of_dev["nowhere"]) == (10, 10)
    assert record["made_up"] == ["Zub"]
    assert len(record["people"]["trainings"]) == 2
    assert record["saliency"]["question"] == f"Where was {said['name'][0]} born?"


def test_a_second_run_writes_the_same(folder: Path) -> None:
    made = folder / "data" / "probes" / "quick" / "vanilla"
    probe.main()
    first = folder_hash(made)
    probe.main()
    assert folder_hash(made) == first


def test_the_report_of_it_names_nobody_and_no_place(folder: Path) -> None:
    """The finetuned weights know no place, so that none may be written as an answer either."""
    probe.main()
    probes = folder / "data" / "probes" / "quick"
    for make in (knowledge_part, shifts_part, inventions_part, saliency_part):
        part = make(probes, ["vanilla"])
        assert part is not None
        for name, content in {"text": part.text, **part.files}.items():
            told = [text for text in (*BIRTHPLACES, *BIRTHPLACES.values()) if text in content]
            assert told == [], name


@pytest.mark.parametrize(
    ("missing", "told"),
    [
        ("evaluations/quick/vanilla/predictions.tsv", "predictions.tsv is missing; `dvc repro` makes it"),
        ("weights/quick/vanilla/pretrained/seed-1.safetensors", "seed-1.safetensors is missing; `dvc repro` makes it"),
    ],
)
def test_a_missing_input_is_told_in_one_line(folder: Path, missing: str, told: str) -> None:
    (folder / "data" / missing).unlink()
    with pytest.raises(SystemExit) as stop:
        probe.main()
    assert told in str(stop.value) and "\n" not in str(stop.value)
    assert not (folder / "data" / "probes").exists()


def test_a_recipe_without_questions_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["probe", "--recipe", "text", "--variant", "vanilla"])
    with pytest.raises(SystemExit, match="recipe 'text' has no questions"):
        probe.main()
