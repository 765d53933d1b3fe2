"""A study's file: which cells it has, what each depends on, and a line for each mistake."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from stages.settings.params import QuestionRecipe, Settings
from stages.system.errors import UserError
from stages.trials.study.plan import FOLDER, Plan, studies
from stages.trials.study.row import Cell, Row, add_row
from tests.support.tiny import SETTINGS

STUDY: dict[str, Any] = {"question": "What?", "expected": "That.", "recipe": "quick", "variants": ["rope", "vanilla"]}
QUICK = SETTINGS.question_recipe("quick")
Written = Callable[..., Plan]


def write_study(name: str = "mine", **content: Any) -> Plan:
    """Write the file of a study with changed keys here, and read it."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / f"{name}.yaml").write_text(yaml.safe_dump(STUDY | content), encoding="utf-8")
    return Plan(name, SETTINGS)


@pytest.fixture(name="written")
def written_fixture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Written:
    """Write studies in a folder of their own."""
    monkeypatch.chdir(tmp_path)
    return write_study


def row_of(cell: Cell, **figures: Any) -> Row:
    """A row of a cell."""
    made: dict[str, Any] = {
        "settings": "x", "loss": 1.0, "characters": 1000, "parameters": 10, "epochs": 1, "seconds": 1.0,
        "commit": "c" * 40, "device": "here", "precision": "float32", "questions": 10, "right": 5,
    }  # fmt: skip
    return Row(**cell.model_dump(), **made | figures)


def test_lists_make_the_product_of_their_values_for_each_variant_seed_and_world(written: Written) -> None:
    rates, layers = [0.001, 0.01], [1, 2, 3]
    change = {"pretrain.learning_rate": rates, "model.layers": layers, "optimizer.matrices": "adamw"}
    plan = written(changes={"swept": change, "plain": {"variants": ["rope"]}}, seeds=[1, 2], worlds=[7, 8])
    assert len(plan.cells) == len({*plan.cells}) == (2 * 3 * 2 + 1) * 2 * 2
    assert plan.cells[0].world == "7" and plan.cells[-1].world == "8"
    seen = set()
    for cell in plan.cells:
        params = plan.params_of(cell)
        recipe = params.recipes["quick"]
        assert (recipe.seeds, params.sources.synthetic.seed) == ([cell.seed], int(cell.world))
        assert recipe.optimizer.matrices == ("adamw" if cell.change == "swept" else "muon")
        seen.add((recipe.pretrain.learning_rate, recipe.model.layers))
    own = (QUICK.pretrain.learning_rate, QUICK.model.layers)
    assert seen == {(rate, layer) for rate in rates for layer in layers} | {own}


OTHER_OBJECTIVES = {"span_corruption": {"mixture_weight": 1.0, "shortest_document": 9, "longest_document": 9}}


def quick(params: Settings) -> QuestionRecipe:
    return params.question_recipe("quick")


@pytest.mark.parametrize(
    ("change", "read"),
    [
        ({"pretrain.batch_size": 5}, lambda params: quick(params).pretrain.batch_size == 5),
        (
            {"pretrain.objectives": OTHER_OBJECTIVES},
            lambda params: quick(params).pretrain.objectives.title_cloze is None,
        ),
        ({"variants.rope.theta": 5.0}, lambda params: params.variants["rope"]["theta"] == 5),
        ({"sources.synthetic.people.dev": 3}, lambda params: params.sources.synthetic.people.dev == 3),
        ({"data.question": "{name}?"}, lambda params: quick(params).data.question == "{name}?"),
    ],
)
def test_a_change_names_any_setting_and_leaves_the_others(
    written: Written, change: dict[str, Any], read: Callable[[Any], bool]
) -> None:
    plan = written(changes={"changed": change, "plain": {}}, variants=["rope"])
    changed, plain = plan.cells
    assert read(plan.params_of(changed)) and not read(plan.params_of(plain))
    assert plan.params_of(plain) == SETTINGS.changed({"recipes.quick.seeds": [1]})
    assert plan.digest(changed) != plan.digest(plain)


def test_settings_are_of_all_trainings_but_where_a_change_has_another(written: Written) -> None:
    changes = {"none": {}, "other": {"pretrain.epochs": 9}, "swept": {"pretrain.epochs": [7, 8]}}
    plan = written(settings={"pretrain.epochs": 3}, changes=changes, variants=["rope"])
    assert [quick(plan.params_of(cell)).pretrain.epochs for cell in plan.cells] == [3, 9, 7, 8]
    in_part = {"pretrain.objectives.span_corruption.shortest_document": 5}
    plan_of_parts = written(settings={"pretrain.objectives": OTHER_OBJECTIVES}, changes={"a": in_part, "b": {}})
    lengths = [quick(plan_of_parts.params_of(cell)).pretrain.objectives.span_corruption for cell in plan_of_parts.cells]
    assert [spans and spans.shortest_document for spans in lengths[:: len(lengths) - 1]] == [5, 9]
    with_key = written(changes={"a": {"pretrain.epochs": 3}}, variants=["rope"])
    assert with_key.digest(with_key.cells[0]) == plan.digest(plan.cells[0])


@pytest.mark.parametrize(
    ("key", "same"),
    [
        ("recipes.quick.pretrain.epochs", False),
        ("variants.rope.theta", False),
        ("sources.synthetic.seed", False),
        ("recipes.quick.report.dev_asked_before", True),
        ("compute.checkpoint_seconds", True),
        ("recipes.handout.pretrain.epochs", True),
    ],
)
def test_the_digest_is_of_what_a_result_depends_on_alone(written: Written, key: str, same: bool) -> None:
    plan = written(variants=["rope"])
    (cell,) = plan.cells
    other = Plan("mine", SETTINGS.changed({key: 5}))
    assert (plan.digest(cell) == other.digest(cell)) == same


def test_a_cell_is_missing_until_it_has_a_row_and_again_until_it_has_one_of_todays_settings(written: Written) -> None:
    plan = written(changes={"plain": {}, "record": {"record": "by hand"}}, variants=["rope"])
    plain, record = plan.cells
    assert plan.missing() == [plain]
    add_row("mine", row_of(plain, settings="old"))
    add_row("mine", row_of(record, settings=""))
    again = Plan("mine", SETTINGS)
    assert (again.missing(), again.missing(again=True)) == ([], [plain])
    assert len(again.rows) == 2  # the old row is shown, too
    add_row("mine", row_of(plain, settings=plan.digest(plain), right=7))
    latest = Plan("mine", SETTINGS)
    assert (latest.missing(again=True), latest.rows[plain].right) == ([], 7)


@pytest.mark.parametrize(("enough", "chosen"), [(None, 0.01), (40.0, 0.001)])
def test_another_study_chooses_a_value_for_each_variant(written: Written, enough: float | None, chosen: float) -> None:
    """The most right answers, or the fewest characters among values that have enough of them."""
    rates = written("rates", changes={"rate": {"pretrain.learning_rate": [0.001, 0.01]}}, seeds=[5, 6])
    choice = {"key": "pretrain.learning_rate", "of": "rates", "by": "answered", "enough": enough}
    plan = written(choose=[choice], changes={"twice": {"pretrain.learning_rate": "times 2"}, "plain": {}})
    waiting = "choose.pretrain.learning_rate waits for study rates; run: python -m stages.trials rates"
    with pytest.raises(UserError, match=waiting):
        plan.params_of(plan.cells[0])
    for cell in rates.cells:
        more = (cell.values["pretrain.learning_rate"] == 0.01) == (cell.variant == "rope")
        add_row("rates", row_of(cell, right=6 if more else 4, characters=2000 if more else 1000))
    plan = Plan("mine", SETTINGS)
    by_name = {(cell.change, cell.variant): plan.params_of(cell).recipes["quick"].pretrain for cell in plan.cells}
    assert by_name["plain", "rope"].learning_rate == chosen
    assert by_name["plain", "vanilla"].learning_rate == (0.001 if enough is None else 0.01)
    assert by_name["twice", "rope"].learning_rate == 2 * chosen
    assert {at_end for *_, at_end in plan.choices()} == {True}
    twice = written(choose=[choice], changes={"twice": {"pretrain.learning_rate": "times two"}})
    with pytest.raises(UserError, match="was 'times two'; allowed: `times` and a number"):
        twice.params_of(twice.cells[0])


def choice(of: str = "b", by: str = "loss") -> dict[str, str]:
    return {"key": "a", "of": of, "by": by}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"expected": None}, "mine.yaml: expected: was None"),
        ({"variant": ["rope"]}, "mine.yaml: variant: unknown key; did you mean 'variants'?"),
        ({"recipe": "quack"}, "mine.yaml: unknown recipe 'quack'; allowed: quick"),
        ({"variants": ["ropes"]}, "mine.yaml: unknown variant 'ropes'; allowed: vanilla"),
        ({"choose": [choice(of="none")]}, "there is no stages/trials/none.yaml; write it"),
        ({"choose": [choice(of="mine")]}, "mine.yaml: choose: study mine sweeps no a; give it a list"),
        ({"measures": ["accuracy"]}, "mine.yaml: measures.0: was 'accuracy'; allowed: answered"),
        ({"choose": [choice(by="c")]}, "mine.yaml: choose.0.by: was 'c'; allowed: answered"),
        ({"changes": {"a": {"pretrain.epoch": 3}}}, r"mine.yaml, change a: recipes.quick.pretrain.epoch: unknown key"),
        ({"settings": {"pretrain.epoch": 3}}, r"mine.yaml, change recipe: recipes.quick.pretrain.epoch: unknown key"),
        ({"changes": {"a": {"pretrain.epochs": 0}}}, r"mine.yaml, change a: recipes.quick.pretrain.epochs: was 0"),
        ({"changes": {"a": {"variants": ["ropee"]}}}, "mine.yaml: unknown variant 'ropee'; allowed: vanilla"),
        ({"changes": {"a": {"variants": "rope"}}}, "mine.yaml: changes.a.variants: was rope; allowed: a list of names"),
        ({"changes": {"a": {"seeds": [3, 4]}}}, "mine.yaml, change a: seeds: key `seeds` of the study"),
        (
            {"worlds": [5], "settings": {"sources.synthetic.seed": 6}},
            "sources.synthetic.seed: key `worlds` of the study",
        ),
        ({"held_out": 7, "settings": {"data.held_out": 8}}, "data.held_out: key `held_out` of the study says"),
        ({"changes": {"a": {"model.layers.two": 2}}}, r"mine.yaml, change a: recipes.quick.model.layers: was"),
    ],
)
def test_a_mistake_is_one_line_that_names_the_file_and_the_key(
    written: Written, content: dict[str, Any], message: str
) -> None:
    def read() -> None:
        plan = written(**content)
        plan.params_of(plan.cells[0])

    with pytest.raises(UserError, match=message) as caught:
        read()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "message"),
    [("theirs", "write it, or take one of: yours"), ("your", r"did you mean 'yours'\?")],
)
def test_a_study_without_a_file_is_reported_with_those_that_have_one(written: Written, name: str, message: str) -> None:
    written("yours")
    with pytest.raises(UserError, match=f"there is no stages/trials/{name}.yaml; {message}"):
        Plan(name, SETTINGS)


@pytest.mark.parametrize("name", studies())
def test_every_committed_study_is_valid(name: str) -> None:
    plan = Plan(name, SETTINGS)
    if all(Plan(choice.of, SETTINGS).rows for choice in plan.study.choose):  # else it waits for them
        for cell in plan.cells[:: max(1, len(plan.cells) // 30)]:
            plan.params_of(cell)
    assert plan.rows or plan.missing()
