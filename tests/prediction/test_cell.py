"""Cells: bits of prompts against arithmetic by hand, and a world as `quick` has it."""

from dataclasses import replace
from math import log2
from pathlib import Path

import numpy as np
import pytest
import torch

from stages import prepare, world
from stages.corpus.prepared import Prepared
from stages.experiment.experiment import Experiment
from stages.prediction import train
from stages.prediction.alignment import alignment, elsewhere, gradient
from stages.prediction.cell import bits, trained
from stages.prediction.row import ROWS, Cell, Row, cells
from stages.probing.prompts import continuation, dev_facts, question
from stages.settings import Settings, load
from stages.sources.audit import own_pages
from stages.sources.world.prepared import prepared_world
from stages.system.errors import StudyError
from stages.system.rows import read_rows
from tests.support.project import write_params
from tests.support.talking import Run
from tests.support.tiny import MODEL, SETTINGS, loud, tiny_model
from tests.support.toy import learned, toy_facts, toy_prepared

SYNTHETIC = SETTINGS.sources.synthetic


def test_bits_of_prompts_are_log_ratios_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = toy_facts()[:3]
    own = np.log(np.array([[0.5, 0.25, 0.125], [0.1, 0.4, 0.1], [0.2, 0.2, 0.2]]))  # p(place of row | prompt of column)
    calls = iter(own)
    monkeypatch.setattr("stages.prediction.cell.read_targets", lambda *_: (next(calls), None))
    gains = [log2(0.5 / 0.1875), log2(0.4 / 0.1), log2(0.2 / 0.2)]
    prompts = [question(fact) for fact in facts]
    assert bits(tiny_model("rope"), toy_prepared(), facts, prompts) == pytest.approx(np.mean(gains))


def test_a_model_that_knows_the_pages_has_many_bits_and_one_that_does_not_has_none() -> None:
    facts = toy_facts()
    pages = [continuation(fact, MODEL.context) for fact in facts]
    assert bits(learned(("continuation",)), toy_prepared(), facts, pages) > 5
    untrained = tiny_model("rope", len(toy_prepared().vocabulary))
    assert abs(bits(untrained, toy_prepared(), facts, pages)) < 0.5


def test_the_gradient_is_that_of_finite_differences() -> None:
    vocabulary = toy_prepared().vocabulary
    model = loud(tiny_model("vanilla", len(vocabulary)), std=0.05).double()
    of_all = gradient(model, vocabulary, "Oda Quill. Painter, born in ", "Vell")
    parameter = next(iter(model.blocks.parameters()))
    assert of_all.shape == (sum(weight.numel() for weight in model.blocks.parameters()),)

    def log_likelihood() -> float:
        tokens = vocabulary.encode("Oda Quill. Painter, born in Vell")
        logits = model(torch.from_numpy(tokens[:-1])[None]).log_softmax(dim=-1)[0]
        return float(sum(logits[t - 1, tokens[t]].item() for t in range(len(tokens) - 4, len(tokens))))

    step = 1e-5
    before = log_likelihood()
    parameter.data[3] += step
    assert (log_likelihood() - before) / step == pytest.approx(float(of_all[3]), rel=1e-3, abs=1e-6)


def test_people_born_elsewhere_come_in_order() -> None:
    facts = toy_facts()
    assert [fact.name for fact in elsewhere(facts, 2)] == [fact.name for fact in (*facts[3:], *facts[:2])]


def test_pages_that_are_all_alike_align_with_no_question() -> None:
    alike = [replace(fact, page=f"Born in {fact.place}", position=8) for fact in toy_facts()]
    model = loud(tiny_model("vanilla", len(toy_prepared().vocabulary)))
    assert alignment(model, toy_prepared().vocabulary, alike) == pytest.approx(0, abs=1e-6)


def test_the_alignment_of_rope_is_that_of_the_prototype() -> None:
    # 0.067 was published for seed 1 of an earlier program, with 48 facts of this world and the shape of `quick`
    experiment = Experiment.of(SETTINGS, "quick", "rope")
    prepared = prepared_world(SYNTHETIC.model_copy(update={"seed": 2021}))
    dev = prepared.of_split("dev")
    facts = dev_facts(prepared, own_pages(prepared.texts, {*dev.name}))[:48]
    assert alignment(experiment.new_model(prepared, 1), prepared.vocabulary, facts) == pytest.approx(0.067, abs=0.003)


def test_a_world_is_that_of_quick_with_its_seed(tmp_path: Path, run_in: Run) -> None:
    write_params(tmp_path)
    assert run_in(tmp_path, world).code == run_in(tmp_path, prepare, "--recipe", "quick").code == 0
    of_quick = Prepared.load(tmp_path / "data/prepared/quick")
    same = prepared_world(SYNTHETIC)
    assert same.texts == of_quick.texts
    assert all(same.of_split(split).equals(of_quick.of_split(split)) for split in ("train", "dev"))
    other = prepared_world(SYNTHETIC.model_copy(update={"seed": SYNTHETIC.seed + 1}))
    assert other.texts != same.texts


def test_people_who_were_all_born_in_one_place_are_refused() -> None:
    people = SYNTHETIC.people.model_copy(update={"dev": 1})
    sources = SETTINGS.sources.model_copy(update={"synthetic": SYNTHETIC.model_copy(update={"people": people})})
    with pytest.raises(
        StudyError, match=r"sources.synthetic.people.dev: all people that world \d+ asks about were born"
    ):
        trained(SETTINGS.model_copy(update={"sources": sources}), cells(SETTINGS)[0])


def test_cells_are_all_variants_worlds_and_seeds_once() -> None:
    found = cells(SETTINGS)
    assert len({*found}) == len(found) == len(SETTINGS.every_variant) * 2 * 3


@pytest.mark.parametrize(
    ("key", "value"),
    [("recipes.quick.model.width", 48), ("sources.synthetic.templates", 3), ("prediction.facts", 12)],
)
def test_a_cell_is_another_one_where_its_recipe_its_world_or_its_facts_are(
    tmp_path: Path, key: str, value: int
) -> None:
    write_params(tmp_path, values={key: value})
    assert {*cells(load(tmp_path / "params.yaml"))}.isdisjoint(cells(SETTINGS))


def test_each_cell_is_trained_once_and_none_when_the_time_is_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run_in: Run
) -> None:
    write_params(tmp_path)
    trained_cells: list[Cell] = []

    def trained_at_once(_: Settings, cell: Cell) -> Row:
        assert cell not in trained_cells  # else it would go on for ever
        trained_cells.append(cell)
        figures = {"alignment": 0.1, "question_bits": 4.0, "page_bits": 8.0, "parameters": 1000, "seconds": 60.0}
        return Row(**cell.model_dump(), **figures, commit="c", device="d")

    monkeypatch.setattr(train, "trained", trained_at_once)
    assert "time is up" in run_in(tmp_path, train, "--variants", "rope", "--hours", "0").err and not trained_cells
    for _ in range(2):
        assert run_in(tmp_path, train, "--variants", "rope").code == 0
        assert trained_cells == [cell for cell in cells(SETTINGS) if cell.variant == "rope"]
    assert [Cell(**known.model_dump()) for known in read_rows(tmp_path / ROWS, Row)] == trained_cells
