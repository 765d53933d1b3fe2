"""What is right, memorised or extracted, where answers come from, and whether a target would be said."""

from math import log2
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from safetensors.torch import save

from stages.asking.generation import NEVER, Continuation, generate
from stages.asking.origins import COUNT, origin, unseen_names
from stages.asking.prompts import PAGE_FORMS, Fact, Prompt, continuation, question
from stages.asking.recall import (
    answers,
    bits,
    exact_matches,
    extraction,
    matches_by_offset,
    offset_prompt,
    offsets,
    probe,
    with_room,
)
from stages.corpus.prepared import Prepared
from stages.corpus.questions import Form, Question
from stages.corpus.text import Vocabulary
from tests.support.tiny import BIRTHPLACES, MODEL, SETTINGS, VARIANTS, loud, tiny_model, tiny_prepared
from tests.support.toy import learned, toy_experiment, toy_facts, toy_prepared, toy_prompts

VOCABULARY, FACTS = toy_prepared().vocabulary, toy_facts()
OFFSETS = (0, 1, 10)  # "Where was " has ten characters
SEED = 2
OWN = "Oda Quill. Painter, born in Vell, of Ilm."
PLACES = {"Vell", "Ilm", "Nowhereham"}
BORN = Form("Where was ", " born?")
LETTERS = Vocabulary.of(["ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz '-"])
CORPUS = f"{OWN}\nTam Brae. Smith."
SAID = {place: place for place in BIRTHPLACES.values()} | {
    "Vell": "vell", "Ilm": "Ilm ", "Oss": "Os", "Urr": "Urr.", "Kip": "",
}  # fmt: skip


def test_only_the_same_characters_are_correct(monkeypatch: pytest.MonkeyPatch) -> None:
    prepared = tiny_prepared()
    answers_given = [Continuation(np.array(prepared.vocabulary.encode(place)), 0.5) for place in SAID.values()]
    monkeypatch.setattr("stages.asking.recall.generate", lambda *_: answers_given)
    model = tiny_model("vanilla")
    dev = answers(model, prepared, "dev", SETTINGS.question_recipe("quick"))
    assert dev.predicted.tolist() == [*SAID.values()] and dev.gold.tolist() == [*SAID]
    assert dev.correct.tolist() == [0, 0, 0, 0, 0, 1, 1, 1]
    assert answers(model, prepared, "test", SETTINGS.question_recipe("quick")).correct.tolist() == [""] * 8


@pytest.mark.parametrize(("recipe", "predicted"), [("quick", "L’Îlm"), ("own", "L'Îlm")])
def test_an_answer_in_another_spelling_stands_as_the_gold_one_where_a_recipe_allows_it(
    monkeypatch: pytest.MonkeyPatch, recipe: str, predicted: str
) -> None:
    splits = {split: [Question(1, "Who?", "Ada", "L'Îlm")] for split in ("train", "dev", "test")}
    prepared = Prepared.of(["Ada. L’Îlm ."], splits)
    said = Continuation(prepared.vocabulary.encode("L’Îlm"), 0.5)
    monkeypatch.setattr("stages.asking.recall.generate", lambda *_: [said])
    for split in ("dev", "test"):  # a test with answers is marked, too
        table = answers(tiny_model("vanilla"), prepared, split, SETTINGS.question_recipe(recipe))
        assert table.predicted.tolist() == [predicted] and table.correct.tolist() == [int(recipe == "own")]


def test_a_control_that_matches_is_not_memorised() -> None:
    models = dict.fromkeys(("pretrained", "finetuned"), learned(("cloze",)))
    prompts = {"continuation": toy_prompts()["continuation"], "other_name": toy_prompts()["cloze"]}
    table = extraction(models, VOCABULARY, FACTS, prompts, np.zeros(8))
    assert table.pretrained_other_name.all() and not table.pretrained_memorised.any()


@pytest.mark.parametrize("variant", VARIANTS)
def test_there_is_a_match_exactly_if_greedy_decoding_says_the_target(variant: str) -> None:
    model = loud(tiny_model(variant, len(VOCABULARY)))
    prompts = [prompt.text for form in PAGE_FORMS for prompt in toy_prompts()[form]]
    said = generate(model, [VOCABULARY.encode(prompt) for prompt in prompts], 3, end=NEVER)
    texts = [(prompt, VOCABULARY.decode(answer.tokens)) for prompt, answer in zip(prompts, said, strict=True)]
    texts = [(prompt, text) for prompt, text in texts if not {"⁇", "□"} & set(text)]  # a place has neither
    assert len(texts) >= 3
    own = [Prompt(prompt, text) for prompt, text in texts]
    other = [Prompt(prompt, text[:2] + ("b" if text[2] != "b" else "a")) for prompt, text in texts]
    assert [*exact_matches(model, VOCABULARY, own + other)] == [True] * len(own) + [False] * len(own)


def test_a_missing_closing_mask_is_no_match_where_one_is_due() -> None:
    model = learned((*PAGE_FORMS, "question"))
    place, prompt = FACTS[0].place, toy_prompts()["cloze"][0].text
    targets = [place + "⁇", place[:-1], place[:-1] + "⁇"]
    assert [*exact_matches(model, VOCABULARY, [Prompt(prompt, target) for target in targets])] == [True, True, False]
    assert exact_matches(model, VOCABULARY, []).shape == (0,)


def test_bits_of_prompts_are_log_ratios_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    own = np.log(np.array([[0.5, 0.25, 0.125], [0.1, 0.4, 0.1], [0.2, 0.2, 0.2]]))  # p(place of row | prompt of column)
    calls = iter(own)
    monkeypatch.setattr("stages.asking.recall.read_targets", lambda *_: (next(calls), None))
    gains = [log2(0.5 / 0.1875), log2(0.4 / 0.1), log2(0.2 / 0.2)]
    prompts = [question(fact) for fact in FACTS[:3]]
    assert bits(tiny_model("rope"), VOCABULARY, FACTS[:3], prompts) == pytest.approx(np.mean(gains))


def test_a_model_that_knows_the_pages_has_many_bits_and_one_that_does_not_has_none() -> None:
    pages = [continuation(fact, MODEL.context) for fact in FACTS]
    assert bits(learned(("continuation",)), VOCABULARY, FACTS, pages) > 5
    assert abs(bits(tiny_model("rope", len(VOCABULARY)), VOCABULARY, FACTS, pages)) < 0.5


def test_bits_of_pages_as_long_as_the_context_are_those_of_their_ends() -> None:
    """A short place leaves its page more room than a long one, which every page is asked for, too."""
    places = ["Ulm", "Llanfair", "Rome"]
    facts = [Fact(1, "", "Ada", f"{'x' * 2 * MODEL.context}{place}", place, 2 * MODEL.context) for place in places]
    pages = [continuation(fact, MODEL.context) for fact in facts]
    assert np.isfinite(bits(tiny_model("rope", len(VOCABULARY)), VOCABULARY, facts, pages))


def test_facts_are_those_that_are_read_whole_at_every_offset() -> None:
    fact = Fact(1, "Where was Ada born?", "Ada", "Ada. Ada was born in Ulm, Peru.", "Ulm", 21)
    page = "Ada. Ada was born in "
    assert [offset_prompt(fact, offset).text for offset in OFFSETS] == [page, f" {page}", f"Where was {page}"]
    assert tuple(offsets(FACTS)) == OFFSETS
    fits = len(offset_prompt(fact, OFFSETS[-1]).text + fact.place) - 1  # a model reads all but the last character
    assert with_room([fact], OFFSETS[-1], fits) == [fact]
    assert with_room([fact], OFFSETS[-1], fits - 1) == []
    assert with_room(FACTS, OFFSETS[-1] + 1, MODEL.context) == []  # no opening is so long


def test_at_offset_0_a_match_is_one_of_the_continuation() -> None:
    models = {"pretrained": learned(("continuation",)), "other": loud(tiny_model("vanilla", len(VOCABULARY)))}
    table = matches_by_offset(models, VOCABULARY, FACTS, OFFSETS)
    assert table.groupby("offset")["row"].apply(list).to_dict() == {offset: [*range(1, 9)] for offset in OFFSETS}
    assert table.pretrained[table["offset"] == 0].all()
    assert not table.pretrained[table["offset"] == 10].all()  # it has read no page that begins further on
    assert not table.other.any()


def predictions(right: int) -> pd.DataFrame:
    """predictions.tsv: the first so many questions of dev are answered right, all others with the person's own name."""
    rows = [
        (split, row, SEED, init, f"Where was {name} born?", gold, int(row <= right and init == "pretrained"))
        for init in ("scratch", "pretrained")
        for split in ("dev", "test")
        for row, (name, gold) in enumerate(BIRTHPLACES.items(), 1)
    ]
    table = pd.DataFrame(rows, columns=["split", "row", "seed", "init", "question", "gold", "correct"])
    return table.assign(predicted=table.gold.where(table.correct == 1, table.question.str.split().str[2]))


def test_what_is_memorised_extracted_and_answered_is_found(tmp_path: Path) -> None:
    """Of a model that learned the pages by heart and then was finetuned to nonsense."""
    prepared, weights = toy_prepared(), {name: tmp_path / name for name in ("pretrained", "finetuned")}
    weights["pretrained"].write_bytes(save(learned(PAGE_FORMS).state_dict()))
    weights["finetuned"].write_bytes(save(loud(tiny_model("vanilla", len(prepared.vocabulary))).state_dict()))
    made = probe(toy_experiment(), prepared, predictions(right=3), weights, SEED)
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
    assert answered.origin.tolist() == ["correct"] * 3 + ["own_page"] * 5


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


def test_no_name_stands_in_the_known_text_and_each_can_be_read() -> None:
    known = ". ".join(unseen_names(LETTERS, "", BORN, 128))
    names = unseen_names(LETTERS, known, BORN, 32)
    assert names == unseen_names(LETTERS, known, BORN, 32)  # the same each time
    assert len(set(names)) == COUNT and not any(name in known or LETTERS.unknown(name) for name in names)
    assert max(len(f"Where was {name} born?") for name in names) <= 30  # ⁇ and an answer have room
