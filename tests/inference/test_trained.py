"""Which model is asked where several are selected: the best by their report, else the only one with weights."""

import json
from pathlib import Path

import pytest

from stages.asking.trained import chosen_variant
from stages.system.errors import StudyError
from tests.tiny import SETTINGS

RECIPE = "open"


@pytest.fixture(autouse=True)
def _empty_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def report(selection: str, **accuracies: float) -> None:
    folder = Path("reports") / RECIPE / selection
    folder.mkdir(parents=True)
    variants = {variant: {"dev_accuracy": accuracy} for variant, accuracy in accuracies.items()}
    (folder / "metrics.json").write_text(json.dumps({"variants": variants}))


def weights(*variants: str, folder: str = "finetuned", name: str = "pretrained-seed-1.safetensors") -> None:
    for variant in variants:
        path = Path("data/weights") / RECIPE / variant / folder
        path.mkdir(parents=True)
        (path / name).touch()


def chosen(selection: str = "compared", stage: str = "finetune") -> str:
    selected = SETTINGS.model.model_copy(update={"variant": selection})
    return chosen_variant(SETTINGS.model_copy(update={"model": selected}), RECIPE, stage)


def test_one_selected_variant_is_asked_whatever_there_is() -> None:
    weights("vanilla")
    assert chosen("rope") == "rope"


@pytest.mark.parametrize("selection", ["compared", "all"])
def test_the_best_of_the_selections_report_is_asked(selection: str) -> None:
    report(selection, rope=40.0, vanilla=60.0)
    report("rope", rope=99.0)
    weights("rope", "vanilla")
    assert chosen(selection) == "vanilla"


def test_without_that_report_the_only_one_with_weights_is_asked() -> None:
    weights("rope")
    weights("nope", folder="pretrained")
    weights("mqa", name="provenance.json")
    assert chosen() == "rope"
    assert chosen(stage="pretrain") == "nope"


def test_of_several_with_weights_and_no_report_of_them_one_has_to_be_named() -> None:
    weights("rope", "vanilla")
    report("rope", rope=40.0)
    with pytest.raises(StudyError, match=r"which variant is best; name one with --variant: vanilla, rope\Z"):
        chosen()


def test_without_any_weights_the_first_of_the_compared_is_to_be_trained() -> None:
    assert chosen() == SETTINGS.study.compared[0]


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"variants": {}}', '{"variants": {"rope": {}}}'])
def test_a_broken_report_is_told_in_one_line(content: str) -> None:
    report("compared")
    (Path("reports") / RECIPE / "compared" / "metrics.json").write_text(content)
    with pytest.raises(StudyError, match=r"reports/open/compared/metrics.json is broken; name a variant with"):
        chosen()
