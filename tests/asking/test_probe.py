"""What weights are asked beside the questions, and where answers come from; the report of it reveals nothing."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from safetensors.torch import save

from stages.asking.probe import COUNT, dev_origins, origin, probe, unseen_names
from stages.asking.prompts import PAGE_FORMS
from stages.corpus.prepared import Prepared, write_table
from stages.corpus.questions import Form
from stages.corpus.text import Vocabulary
from stages.experiment.experiment import Experiment
from stages.reporting.evaluations import PROBES
from stages.settings import load
from stages.system.files import read_table, write_bytes
from tests.support.project import save_prepared, write_params
from tests.support.tiny import BIRTHPLACES, MODEL, loud, tiny_model
from tests.support.toy import learned, toy_prepared

SEED = 2
OWN = "Oda Quill. Painter, born in Vell, of Ilm."
PLACES = {"Vell", "Ilm", "Nowhereham"}
BORN = Form("Where was ", " born?")
LETTERS = Vocabulary.of(["ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz '-"])
CORPUS = f"{OWN}\nTam Brae. Smith."


def tiny(content: dict[str, Any]) -> None:
    """A recipe of the tiny shape."""
    content["compute"] |= {"device": "cpu", "precision": "float32"}
    recipe = content["recipes"]["quick"]
    recipe["model"] = MODEL.model_dump()
    objectives = recipe["pretrain"]["objectives"]
    objectives["title_cloze"]["mixture_weight"] = 0.9
    objectives["span_corruption"] = {"mixture_weight": 0.1, "shortest_document": 4, "longest_document": 63}
    recipe["generation"]["max_characters"] = 8


def predictions(right: int) -> pd.DataFrame:
    """predictions.tsv in which the first so many questions of dev are answered right."""
    rows = [
        (split, row, SEED, init, f"Where was {name} born?", gold, int(row <= right and init == "pretrained"))
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
    save_prepared(Path("data/prepared/quick"), toy_prepared())
    nonsense = loud(tiny_model("vanilla", len(toy_prepared().vocabulary)))
    for name, model in (("pretrained", learned(PAGE_FORMS)), ("finetuned", nonsense)):
        write_bytes(Path(f"{name}.safetensors"), save(model.state_dict()))
    return tmp_path


def probed(folder: Path) -> dict[str, pd.DataFrame]:
    """The tables of a probe, written and read again."""
    experiment, prepared = Experiment.of(load(), "quick", "vanilla"), Prepared.load(Path("data/prepared/quick"))
    weights = {name: Path(f"{name}.safetensors") for name in ("pretrained", "finetuned")}
    made = probe(experiment, prepared, predictions(right=3), weights, SEED)
    for name, table in made.items():
        write_table(folder / "vanilla" / name, table)
    return {name: read_table(folder / "vanilla" / name, PROBES[Path(name).stem]) for name in made}


def test_what_is_memorised_extracted_and_answered_is_found(folder: Path) -> None:
    made = probed(folder)
    known = made["extraction.tsv"]
    assert known[["seed", "row"]].to_numpy().tolist() == [[SEED, row] for row in range(1, 9)]
    forms = ["continuation", "cloze", "infilling", "memorised"]  # the recipe has no word clozes
    assert known[[f"pretrained_{form}" for form in forms]].to_numpy().all()
    assert not known[[f"finetuned_{form}" for form in forms]].to_numpy().any() and "pretrained_words" not in known
    assert known.finetuned_extracted.tolist() == [1, 1, 1, 0, 0, 0, 0, 0]  # as the evaluation has it
    moved = made["prefix_offset.tsv"]
    assert moved.groupby("offset")["row"].apply(list).tolist() == [list(range(1, 9))] * 3  # offsets
    origins = made["origins.tsv"]
    asked = origins[origins.asked == "dev"]
    assert asked.groupby(["init", "seed"]).size().to_dict() == {("scratch", SEED): 8, ("pretrained", SEED): 8}
    unseen = origins[origins.asked == "unseen"]
    assert len(unseen) and set(unseen.init) == {"pretrained"} and set(unseen.seed) == {SEED}
    answered = asked[asked.init == "pretrained"]
    assert answered.origin.tolist() == ["correct"] * 3 + ["hallucination"] * 5


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Vell", "correct"),
        ("Painter", "own_page"),
        ("Ilm", "own_page"),  # a training answer, too: the first that fits counts
        ("Nowhereham", "training_answer"),
        ("Brae", "corpus"),
        ("vell", "hallucination"),
        ("Ilm. Tam", "hallucination"),  # the end of one line is no neighbour of the next one's start
        ("", "empty"),
    ],
)
def test_where_an_answer_comes_from(answer: str, expected: str) -> None:
    assert origin(answer, "Vell", [OWN], PLACES, CORPUS) == expected
    assert origin("Vell", None, (), PLACES, CORPUS) == "training_answer"  # of an unseen entity none is correct


def test_dev_answers_have_one_origin_each_and_test_answers_none() -> None:
    columns = ["init", "split", "seed", "row", "question", "gold", "predicted"]
    question = "Where was Oda Quill born?"
    rows = [
        ("scratch", "dev", "1", "1", question, "Vell", "Xyz"),
        ("pretrained", "dev", "1", "1", question, "Vell", "Vell"),
        ("pretrained", "dev", "1", "2", "Where was Tam Brae born?", "Urr", "Painter"),  # not of his own page
        ("pretrained", "test", "1", "1", question, "", "Vell"),
    ]
    table = dev_origins(pd.DataFrame(rows, columns=columns), {"1": [OWN], "2": []}, PLACES, CORPUS)
    assert table[["init", "row", "origin"]].to_numpy().tolist() == [
        *(["scratch", "1", "hallucination"], ["pretrained", "1", "correct"], ["pretrained", "2", "corpus"]),
    ]
    assert set(table.asked) == {"dev"}


def test_no_name_stands_in_the_known_text_and_each_can_be_read() -> None:
    known = ". ".join(unseen_names(LETTERS, "", BORN, 128))
    names = unseen_names(LETTERS, known, BORN, 32)
    assert names == unseen_names(LETTERS, known, BORN, 32)  # the same each time
    assert len(set(names)) == COUNT and not any(name in known or LETTERS.unknown(name) for name in names)
    assert max(len(f"Where was {name} born?") for name in names) <= 30  # ⁇ and an answer have room
