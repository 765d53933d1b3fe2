"""What a model itself takes for the answer, and the epochs in which it practises that."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
import torch.nn.functional as F
from safetensors.numpy import load_file

from stages.corpus.example import MASK
from stages.corpus.objectives import TitleClozeDrawer
from stages.jobs.executor import run_job
from stages.jobs.job import data_digest, jobs_of
from stages.model.likelihood import read_targets
from stages.settings.params import load
from stages.system.errors import UserError
from stages.system.files import read_json
from stages.training import phases
from tests.support.project import save_prepared, small, write_params
from tests.support.tiny import DOCUMENTS, VARIANTS, loud, plain_twin, random_tokens, tiny_model, tiny_prepared

CLOZE: dict[str, Any] = {"mixture_weight": 1.0, "free_order": 0.5, "blanked_rows": 0.0, "salient": 0.0}


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_likelihood_is_that_of_each_character_after_those_before_it(variant: str) -> None:
    """The plain reference reads each sequence alone."""
    model = loud(tiny_model(variant))
    plain = plain_twin(variant, model)
    sequences = [random_tokens(1, length, seed=length)[0].numpy() for length in (5, 31, 12, 12, 60)]
    first = [2, 20, 1, 11, 57]
    likelihoods, _ = read_targets(model, sequences, first)
    for tokens, start, likelihood in zip(map(torch.from_numpy, sequences), first, likelihoods, strict=True):
        with torch.no_grad():
            logits = F.log_softmax(plain(tokens[None, :-1]), dim=-1)[0]
        expected = sum(float(logits[place - 1, tokens[place]]) for place in range(start, len(tokens)))
        assert likelihood == pytest.approx(expected, rel=1e-4)


def test_every_page_is_asked_the_training_question_and_its_phrases_share_one_probability(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    prepared, asked = tiny_prepared(), []

    def shortest(_: Any, sequences: list[np.ndarray], first_targets: list[int]) -> tuple[np.ndarray, None]:
        """Longer answers are less likely by a factor of ten a character."""
        for tokens, first in zip(sequences, first_targets, strict=True):
            assert tokens[first - 1] == tokens[-1] == MASK
            question, phrase = tokens[: first - 1].tolist(), tokens[first:-1].tolist()
            asked.append((prepared.vocabulary.decode(question), prepared.vocabulary.decode(phrase)))
        lengths = np.array([*map(len, sequences)]) - first_targets
        return -np.log(10) * lengths, None

    monkeypatch.setattr(phases, "read_targets", shortest)
    phrases = phases.self_labels(tiny_model("vanilla"), prepared, context=64)
    # W and ? are no characters of these pages
    assert asked[:2] == [("here was Oda Quill born", "Painter"), ("here was Oda Quill born", "Vell")]
    assert len(phrases.probabilities) == len(DOCUMENTS)
    # three characters less: 10^3 times as likely, and by the square of that the more often drawn
    assert phrases.probabilities[0].tolist() == [1e-6, pytest.approx(1.0, abs=1e-5)]


def trained(folder: Path, monkeypatch: pytest.MonkeyPatch, self_training_epochs: int | None, **changed: Any) -> Path:
    """The folder of a job: three epochs and so many own ones."""
    save_prepared(folder / "data/prepared/quick")
    few = {
        "epochs": 3,
        "self_training_epochs": self_training_epochs,
        "batch_size": 2,
        "objectives": {"title_cloze": CLOZE},
        **changed,
    }
    values = {f"recipes.quick.pretrain.{key}": value for key, value in few.items()}
    write_params(folder, small, values | {"recipes.quick.model.context": 64, "model.variant": "vanilla"})
    monkeypatch.chdir(folder)
    data_digest.cache_clear()
    (job,) = jobs_of("pretrain", load())
    run_job(job)
    return job.folder


def test_own_epochs_follow_the_others_and_count_with_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = load_file(trained(tmp_path, monkeypatch, None) / "weights.safetensors")
    work = trained(tmp_path, monkeypatch, 2)
    before = work / "weights-before.safetensors"
    first, last = load_file(before), load_file(work / "weights.safetensors")
    assert all(np.array_equal(first[name], plain[name]) for name in plain)  # the same training to there
    assert not all(np.array_equal(first[name], last[name]) for name in first)
    curve, facts = pd.read_csv(work / "weights.csv"), read_json(work / "weights.json")
    assert curve.epoch.tolist() == [1, 2, 3, 4, 5] and curve.step.tolist() == [4, 8, 12, 16, 20]
    assert facts["examples"] == 5 * len(DOCUMENTS)
    assert facts["seconds"] >= read_json(before.with_suffix(".json"))["seconds"]


def test_own_epochs_that_are_too_few_for_the_warm_up_are_refused_before_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    schedule = {"warmup_tokens": 2 * len(DOCUMENTS) * 64, "decay_epochs": None, "min_lr_ratio": 0.1}
    with pytest.raises(UserError, match="warmup_tokens: the warm-up has"):
        trained(tmp_path, monkeypatch, 2, schedule=schedule)
    assert not [*tmp_path.rglob("weights-before*")]


def test_own_epochs_draw_what_the_model_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def painters(*_: Any) -> Any:
        """The model takes the first phrase of every page for the answer."""
        return tiny_prepared().capitalised.with_probabilities([[1.0, 1e-6]] * len(DOCUMENTS))

    def watched(self: Any, row: int, generator: np.random.Generator) -> Any:
        cue, phrase = cloze(self, row, generator)
        seen.append(tiny_prepared().vocabulary.decode(phrase.tolist()))
        return cue, phrase

    cloze = TitleClozeDrawer.cloze
    monkeypatch.setattr("stages.corpus.objectives.TitleClozeDrawer.cloze", watched)
    monkeypatch.setattr("stages.training.phases.self_labels", painters)
    trained(tmp_path, monkeypatch, 20)
    before, own = seen[: 3 * len(DOCUMENTS)], seen[3 * len(DOCUMENTS) :]
    assert 0 < before.count("Painter") < len(before) and len(own) == 20 * len(DOCUMENTS)
    assert set(own) == {"Painter"}
