"""A training of the study of access practises what it says, and its row has a mark for each question."""

from pathlib import Path

import numpy as np
import pytest

from stages import data, prepare
from stages.access import practise
from stages.access.practise import drawn_once, practised
from stages.corpus.capitalised import capitalised
from stages.corpus.objectives import Mixture
from stages.corpus.prepared import Prepared
from stages.corpus.questions import Question
from stages.experiment.experiment import Experiment
from stages.probing.prompts import PAGE_FORMS
from stages.system.errors import StudyError
from stages.trials.row import ACCESS, Row
from stages.trials.trial import _asked
from tests.support.project import write_params
from tests.support.small_study import small
from tests.support.talking import Run
from tests.support.tiny import BIRTHPLACES, MODEL, SETTINGS, loud, tiny_model
from tests.support.toy import OBJECTIVES, learned, saying, toy_prepared

DOCUMENTS = [f"Oda Quill{'x' * n}. She left Tarn for Vell and saw Brod, Ilm and Urr ." for n in range(40)]


@pytest.mark.parametrize("practice", ["reader", "any", "one"])
def test_a_practice_changes_who_chooses_the_phrases_and_the_length_and_nothing_else(practice: str) -> None:
    plain = SETTINGS.question_recipe("open").model_dump()
    changed = practised(SETTINGS, "open", "rope", 3, practice, 4).question_recipe.model_dump()
    assert changed["pretrain"].pop("epochs") == 4 * plain["pretrain"].pop("epochs")
    salient = {name: changed["pretrain"]["objectives"][name].pop("salient") for name in ("title_cloze", "word_cloze")}
    assert {*salient.values()} == {0.0 if practice == "any" else 1.0}
    for name in salient:
        plain["pretrain"]["objectives"][name].pop("salient")
    assert changed == plain | {"seeds": [3]}


def test_no_epochs_at_all_are_refused_in_a_line() -> None:
    with pytest.raises(StudyError, match=r"params.yaml: recipes.quick.pretrain.epochs: was 0; input should be greater"):
        practised(SETTINGS, "quick", "rope", 1, "any", 0)


def test_one_phrase_of_each_page_is_drawn_at_random_and_nearly_all_of_the_practice_is_of_it() -> None:
    asked = {"train": [Question(1, "Where was Oda Quill born?", "Oda Quill", "Vell")], "dev": [], "test": []}
    data = Prepared.of(DOCUMENTS, asked)
    once = drawn_once(capitalised(data))
    drawn = data.likeliest(once)
    assert {*drawn.values()} == {"She", "Tarn", "Vell", "Brod", "Ilm", "Urr"}  # a few of forty pages each
    objectives = practised(SETTINGS, "quick", "rope", 1, "one", 1).recipe.pretrain.objectives
    mixture = Mixture(data, objectives.model_copy(update={"span_corruption": None}), 128, once)
    rows = np.arange(40).repeat(25)
    examples = mixture.draw(rows, np.random.default_rng(1))
    texts = (
        data.vocabulary.decode(row[row > 1].tolist()) for row in np.where(examples.targets > 1, examples.targets, 0)
    )
    of_drawn = [text == drawn[DOCUMENTS[row].partition(".")[0]] for row, text in zip(rows, texts, strict=True)]
    assert np.mean(of_drawn) > 0.99


def test_the_row_has_a_mark_for_each_question(tmp_path: Path, run_in: Run) -> None:
    write_params(tmp_path, small)
    options = "--recipe quick --variant vanilla --practice one --times 2 --seed 7"
    for stage, given in ((data, ()), (prepare, ()), (practise, options.split())):
        assert run_in(tmp_path, stage, *given).code == 0
    (path,) = (tmp_path / ACCESS).iterdir()
    assert path.name == "quick-vanilla-one-2-7.json"
    row = Row.load(path)
    assert (row.epochs, len(row.correct), len(row.memorised), len(row.says["drawn"])) == (2, 20, 20, 20)
    assert 0 < row.memorised.count("-") < 20  # pages that do not tell the answer
    assert "born" not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("stage", ["pretrained", "finetuned"])
def test_what_is_memorised_is_of_the_pretrained_model_and_what_is_answered_of_the_finetuned(stage: str) -> None:
    recipe = saying(8).model_copy(update={"model": MODEL})
    experiment = Experiment.of(SETTINGS.model_copy(update={"recipes": {"quick": recipe}}), "quick", "vanilla")
    prepared = toy_prepared()
    nonsense = loud(tiny_model("vanilla", len(prepared.vocabulary)))
    knowing = learned(PAGE_FORMS if stage == "pretrained" else ("question",))
    models = {"pretrained": nonsense, "finetuned": nonsense} | {stage: knowing}
    drawn = BIRTHPLACES | {"Oda Quill": "Painter"}
    row = _asked(experiment, prepared, models, OBJECTIVES, {"drawn": drawn})
    knows, answers = stage == "pretrained", stage == "finetuned"
    assert (row["memorised"], row["correct"]) == (str(int(knows)) * 8, str(int(answers)) * 8)
    assert row["says"]["drawn"] == ("01111111" if answers else "00000000") and row["of_own_page"] == row["correct"]
