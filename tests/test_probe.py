"""The stage `probe` in a project of its own: what it writes, and that the report of it reveals nothing."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from stages import probe
from stages.corpus.prepared import read_table, write_table
from stages.experiment.tensors import save_tensors
from stages.probing.forms import PAGE_FORMS
from stages.probing.prefix_offset import OFFSETS
from stages.reporting.sections.extraction import extraction_part
from stages.reporting.sections.failures import failures_part
from stages.system.files import folder_hash
from tests.probing.toy import learned, toy_audit, toy_prepared
from tests.project import write_params
from tests.tiny import BIRTHPLACES, MODEL, loud, tiny_model

SEEDS = [1, 2]


def tiny(content: dict[str, Any]) -> None:
    """A recipe of the tiny shape."""
    content["compute"] |= {"device": "cpu", "precision": "float32"}
    content["probe"]["unseen_entities"] = 5
    recipe = content["recipes"]["quick"]
    recipe["seeds"] = SEEDS
    recipe["model"] = MODEL.model_dump()
    recipe["pretrain"]["objectives"]["span_corruption"] |= {"shortest_document": 4, "longest_document": 63}
    recipe["generation"]["max_characters"] = 8


def predictions(right: int) -> pd.DataFrame:
    """predictions.tsv in which the first so many questions of dev are answered right."""
    rows = [
        (split, row, seed, init, f"Where was {name} born?", gold, int(row <= right and init == "pretrained"))
        for seed in SEEDS
        for init in ("scratch", "pretrained")
        for split in ("dev", "test")
        for row, (name, gold) in enumerate(BIRTHPLACES.items(), 1)
    ]
    table = pd.DataFrame(rows, columns=["split", "row", "seed", "init", "question", "gold", "correct"])
    return table.assign(predicted=table.gold.where(table.correct == 1, "Zub"))


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
    for name, model in (("pretrained/", learned(PAGE_FORMS)), ("finetuned/pretrained-", nonsense)):
        for seed in SEEDS:
            path = Path(f"data/weights/quick/vanilla/{name}seed-{seed}.safetensors")
            save_tensors(path, model.state_dict())
    return tmp_path


def test_what_is_memorised_extracted_and_answered_is_written(folder: Path) -> None:
    probe.main()
    made = folder / "data" / "probes" / "quick" / "vanilla"
    assert {path.name for path in made.iterdir()} == {"extraction.tsv", "prefix_offset.tsv", "origins.tsv"}
    known = read_table(made / "extraction.tsv")
    assert known[["seed", "row"]].to_numpy().tolist() == [[seed, row] for seed in SEEDS for row in range(1, 9)]
    forms = ["continuation", "cloze", "infilling", "memorised"]  # the recipe has no word clozes
    assert known[[f"pretrained_{form}" for form in forms]].to_numpy().all()
    assert not known[[f"finetuned_{form}" for form in forms]].to_numpy().any() and "pretrained_words" not in known
    assert known.finetuned_extracted.tolist() == [1, 1, 1, 0, 0, 0, 0, 0] * 2  # as the evaluation has it
    moved = read_table(made / "prefix_offset.tsv")
    assert moved.groupby(["seed", "offset"])["row"].apply(list).tolist() == [list(range(1, 9))] * 2 * len(OFFSETS)
    origins = read_table(made / "origins.tsv")
    assert origins.groupby(["asked", "init", "seed"]).size().to_dict() == {
        **{("dev", init, seed): 8 for init in ("scratch", "pretrained") for seed in SEEDS},
        **{("unseen", "pretrained", seed): 5 for seed in SEEDS},
    }
    answered = origins[(origins.asked == "dev") & (origins.init == "pretrained") & (origins.seed == 1)]
    assert answered.origin.tolist() == ["correct"] * 3 + ["hallucination"] * 5


def test_a_second_run_writes_the_same(folder: Path) -> None:
    made = folder / "data" / "probes" / "quick" / "vanilla"
    probe.main()
    first = folder_hash(made)
    probe.main()
    assert folder_hash(made) == first


def test_the_report_of_it_names_nobody_and_no_place(folder: Path) -> None:
    probe.main()
    probes = folder / "data" / "probes" / "quick"
    for make in (extraction_part, failures_part):
        part = make(probes, ["vanilla"])
        assert part is not None
        for name, content in {"text": part.text, **part.files}.items():
            told = [text for text in (*BIRTHPLACES, *BIRTHPLACES.values()) if text in content]
            assert told == [], name
