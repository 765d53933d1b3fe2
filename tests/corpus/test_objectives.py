"""What each objective draws: spans of any text, clozes of capitalised and other phrases, questions, causal windows."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from stages.corpus.example import MASK, PAD, Examples
from stages.corpus.objectives import Mixture, causal_lm, corrupt, span_corruption
from stages.corpus.phrases import Phrases, capitalised_phrases, common_words
from stages.corpus.prepared import Prepared
from stages.corpus.questions import Question
from stages.corpus.ragged import Ragged
from stages.corpus.text import PAD_CHARACTER, Vocabulary
from stages.corpus.titles import title_lengths
from stages.settings.params import Objectives
from tests.support.tiny import DOCUMENTS, HANDOUT, TITLE_CLOZE, WORD_CLOZE, spans

SIGNIFICANT = 1e-3  # seeds are fixed: a right distribution passes always, or never
TIMES = 3
FIRST = ord("Ā")
CLOZES = {"title_cloze": TITLE_CLOZE, "word_cloze": WORD_CLOZE}
PAGE = "Oda Quill. She was born in 1815 in Vell and lived there ."
TRAIN = [Question(1, "Where was Ada born?", "Ada", "Vell")]
DEV = [Question(1, "Where was Oda Quill born?", "Oda Quill", "Ilm")]
NONE: dict[str, list[Question]] = {"train": [], "dev": [], "test": []}


def corrupted(document: str, length: int, start: int, span: int) -> str:
    """`prefix ⁇ suffix ⁇ masked content` of the document's first `length` characters."""
    taken = document[:length]
    prefix, masked, suffix = taken[:start], taken[start : start + span], taken[start + span :]
    return f"{prefix}⁇{suffix}⁇{masked}"


def plain(document: str, generator: np.random.Generator) -> str:
    """Truncate to a length uniform in 4…112, then mask a span uniform in 1…half of that at a uniform start."""
    length = min(int(generator.integers(4, 113)), len(document))
    span = int(generator.integers(1, max(1, length // 2) + 1))
    start = int(generator.integers(0, length - span + 1))
    return corrupted(document, length, start, span)


def test_vectorised_span_corruption_equals_the_plain_one_padding_too() -> None:
    vocabulary = Vocabulary.of(DOCUMENTS)
    documents = Ragged.of([vocabulary.encode(document) for document in DOCUMENTS])
    draws = np.random.default_rng(0)
    rows = draws.integers(len(DOCUMENTS), size=500)
    sizes = draws.integers(2, documents.lengths[rows], endpoint=True)
    widths = draws.integers(1, sizes, endpoint=True)
    starts = draws.integers(0, sizes - widths, endpoint=True)
    examples = corrupt(documents, rows, sizes, starts, widths)
    drawn = zip(rows, sizes, starts, widths, strict=True)
    sequences = [corrupted(DOCUMENTS[row], size, start, width) for row, size, start, width in drawn]
    widest = examples.inputs.shape[1] + 1
    tokens = np.stack(
        [vocabulary.encode(sequence.ljust(widest, PAD_CHARACTER)) for sequence in sequences]
    )  # (B, T + 1)
    assert np.array_equal(examples.inputs, tokens[:, :-1])
    assert np.array_equal(examples.targets, tokens[:, 1:])
    assert examples.lengths.tolist() == [len(sequence) - 1 for sequence in sequences]


@pytest.mark.parametrize("size", [1, 2, 3, 9])
def test_a_document_shorter_than_the_draw_is_taken_whole(size: int) -> None:
    documents = Ragged.of([np.arange(2, 2 + size)])
    examples = span_corruption(documents, np.zeros(200, np.int64), spans(10, 60), np.random.default_rng(2))
    assert {*examples.lengths} == {size + 1}
    second_masks = [np.flatnonzero(inputs == MASK)[1] for inputs in examples.inputs]
    assert {size + 1 - second for second in second_masks} == set(range(1, max(1, size // 2) + 1))


def facts(sequences: Iterable[str]) -> pd.DataFrame:
    """What was drawn for each `prefix ⁇ suffix ⁇ masked content` of a document whose characters tell their position."""
    rows = []
    for sequence in sequences:
        second = sequence.rindex("⁇")
        rows.append((len(sequence) - 2, len(sequence) - second - 1, ord(sequence[second + 1]) - FIRST))
    return pd.DataFrame(rows, columns=["length", "span", "start"])


def drawn_facts(documents: list[str], objectives: Objectives) -> pd.DataFrame:
    """Draw three examples of each document as training does."""
    prepared = Prepared.of(documents, NONE)
    rows = np.repeat(np.arange(len(documents)), TIMES)
    examples = Mixture(prepared, objectives, context=128).draw(rows, np.random.default_rng(1))
    sequences = np.hstack([examples.inputs, np.zeros_like(rows)[:, None]])
    sequences[np.arange(len(rows)), examples.lengths] = examples.targets[np.arange(len(rows)), examples.lengths - 1]
    return facts(prepared.vocabulary.decode(sequence).rstrip("□") for sequence in sequences)


def test_training_draws_as_the_plain_reference_does() -> None:
    # about as many and as long as the handout's: 141 on average, a third under 112; a character tells its position
    lengths = np.random.default_rng(0).lognormal(np.log(132), 0.37, size=2937).round().clip(38, 516).astype(np.int64)
    documents = ["".join(map(chr, range(FIRST, FIRST + length))) for length in lengths]
    draws = np.random.default_rng(1)
    expected = facts(plain(text, draws) for text in documents * TIMES)
    drawn = drawn_facts(documents, HANDOUT.pretrain.objectives)
    for name in expected:
        assert stats.ks_2samp(drawn[name], expected[name]).pvalue > SIGNIFICANT


def counting(size: int, context: int) -> Ragged:
    """A text whose characters count up from 2, cut into documents of the context's length."""
    return Ragged.of([np.arange(2 + start, 2 + min(start + context, size)) for start in range(0, size, context)])


def sequences(examples: Examples) -> list[list[int]]:
    """What each example reads and says, without PAD."""
    return [
        [*inputs[:length], targets[length - 1]]
        for inputs, targets, length in zip(examples.inputs, examples.targets, examples.lengths, strict=True)
    ]


@pytest.mark.parametrize("size", [300, 2, 17, 18])
def test_windows_are_parts_of_the_text_in_its_order_as_long_as_can_be(size: int) -> None:
    context, documents = 16, counting(size, 16)
    rows = np.arange(500) % len(documents)
    for sequence in sequences(causal_lm(documents, rows, context, np.random.default_rng(0))):
        first, last = sequence[0], sequence[-1]
        assert sequence == [*range(first, last + 1)]
        assert 2 <= first < last <= size + 1
        at_an_end = first == 2 or last == size + 1
        assert len(sequence) == context + 1 or (len(sequence) <= context + 1 and at_an_end)


def test_windows_start_uniformly_and_every_character_but_the_first_is_a_target_equally_often() -> None:
    size, context, draws = 75, 16, 40_000  # the last document is short
    documents = counting(size, context)
    examples = causal_lm(documents, np.arange(draws) % len(documents), context, np.random.default_rng(0))
    starts = np.bincount([sequence[0] - 2 for sequence in sequences(examples)], minlength=size)
    # those that would begin before the text are clipped to its start
    expected = np.array([context, *[1] * (size - 2)]) / (context + size - 2) * draws
    assert stats.chisquare(starts[: size - 1], expected).pvalue > SIGNIFICANT
    targets = np.bincount(examples.targets[examples.targets != PAD], minlength=size + 2)[2:]
    assert targets[0] == 0
    assert targets[1:] == pytest.approx(targets[1:].mean(), rel=0.05)


def drawn(
    objective: str,
    pages: list[str],
    rows: np.ndarray,
    context: int = 64,
    phrases: Phrases | None = None,
    **settings: object,
) -> tuple[Examples, Prepared]:
    """An example of each of the rows; Vell answers a training question, Ilm one of dev."""
    prepared = Prepared.of(pages, {"train": TRAIN, "dev": DEV, "test": []})
    asked = CLOZES[objective].model_copy(update=settings) if objective in CLOZES else {"mixture_weight": 1.0}
    chosen = Objectives.model_validate({objective: asked})
    return Mixture(prepared, chosen, context, phrases).draw(rows, np.random.default_rng(0)), prepared


def cues_and_phrases(objective: str, pages: list[str], draws: int = 600, **settings: object) -> list[tuple[str, str]]:
    """The cue and the phrase of so many examples, the pages in turn."""
    examples, prepared = drawn(objective, pages, np.arange(draws) % len(pages), **settings)
    decode = prepared.vocabulary.decode
    return [
        (decode(inputs).partition("⁇")[0], decode(targets[targets != PAD]))
        for inputs, targets in zip(examples.inputs, examples.targets, strict=True)
    ]


def words_by_phrase(pages: list[str], **settings: object) -> dict[str, set[str]]:
    """The words that cues of each phrase were made of, the names left out; everything said ends in ⁇."""
    seen: dict[str, set[str]] = defaultdict(set)
    names = {text.partition(".")[0] for text in pages}
    for cue, phrase in cues_and_phrases("word_cloze", pages, **settings):
        (name,) = (name for name in names if name in cue)
        assert cue.count(name) == 1 and phrase.endswith("⁇")
        seen[phrase[:-1]] |= {*cue.replace(name, "").split()}
    return seen


def phrases(document: str) -> list[str]:
    title_length = int(title_lengths([document])[0])
    return [document[start:end] for start, end in capitalised_phrases(document, title_length)]


def test_the_heading_ends_at_the_first_full_stop_that_closes_no_initial() -> None:
    for name in ("Oda Quill", "Tam B. Brae", "J. R. Senn", "Ivo Senn Jr. Dahl", "Žofie Ark"):
        assert title_lengths([f"{name}. A painter ."]) == [len(name)]


def test_phrases_are_runs_of_capitalised_words_that_are_not_the_name_else_every_word() -> None:
    document = "Oda Quill. Oda Quill (born 3 May 1900 in New Vell, Ilm) studied in Østby's Hall ."
    assert phrases(document) == ["May", "New Vell", "Ilm", "Østby's Hall"]
    assert phrases("Oda Quill. a painter of birds .") == ["a", "painter", "of", "birds"]
    assert title_lengths(["1900."]) == [0] and phrases("1900.") == []


def test_where_no_page_has_a_capital_all_candidates_are_practised_alike() -> None:
    candidates = Phrases.alike([[(0, 2), (1, 3)], []])
    small = replace(Prepared.of(["ab cd", "ef"], NONE), candidates=candidates)
    assert small.capitalised.spans.values.tolist() == [[0, 2], [1, 3]]
    with_capital = replace(Prepared.of(["Ab cd", "ef"], NONE), candidates=candidates)
    assert with_capital.capitalised.spans.values.tolist() == [[0, 2], [0, 2]]  # `Ab`, and all words of `ef`


@pytest.mark.parametrize("salient", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("objective", CLOZES)
def test_phrases_are_drawn_by_their_probabilities_or_alike(objective: str, salient: float) -> None:
    probabilities = {"Vell": 0.7, "Ilm": 0.1, "Urr": 0.2}
    draws, page = 20_000, "Oda Quill. by Vell , Ilm and Urr ."
    spans = Phrases.alike([[(page.index(phrase), page.index(phrase) + len(phrase)) for phrase in probabilities]])
    asked_for = spans.with_probabilities([[*probabilities.values()]])
    examples, prepared = drawn(objective, [page], np.zeros(draws, np.int64), phrases=asked_for, salient=salient)
    counts = Counter(prepared.vocabulary.decode(targets[targets != PAD]).strip("⁇") for targets in examples.targets)
    assert set(counts) == set(probabilities)
    for phrase, probability in probabilities.items():
        share = salient * probability + (1 - salient) / 3
        assert counts[phrase] == pytest.approx(draws * share, abs=5 * (draws * share * (1 - share)) ** 0.5)


@pytest.mark.parametrize(
    ("objective", "settings"),
    [("title_cloze", {}), ("word_cloze", {"words_before": 9})],
)
def test_examples_fit_the_context(objective: str, settings: dict[str, int]) -> None:
    pages = ["Oda Quill. She was born in " + "Vell" * 30 + " and lived in Ilm .", "A very long name indeed. x ."]
    examples, _ = drawn(objective, pages, np.arange(200) % 2, 16, **settings)
    assert examples.lengths.max() <= 16


def test_a_mixture_draws_each_objective_by_its_weight() -> None:
    prepared = Prepared.of(["Oda Quill. born in Vell ."], NONE)
    objectives = Objectives(
        span_corruption=spans(25, 25).model_copy(update={"mixture_weight": 0.2}),
        title_cloze=TITLE_CLOZE.model_copy(update={"mixture_weight": 0.5}),
        word_cloze=WORD_CLOZE.model_copy(update={"mixture_weight": 0.3}),
    )
    examples = Mixture(prepared, objectives, context=64).draw(np.zeros(6000, np.int64), np.random.default_rng(1))
    lengths = (examples.targets != PAD).sum(axis=1)  # ⁇Vell⁇ by title clozes, Vell⁇ by word clozes
    assert [np.mean(lengths > 6), np.mean(lengths == 6), np.mean(lengths == 5)] == pytest.approx(
        [0.2, 0.5, 0.3], abs=0.03
    )


def test_a_title_cloze_is_the_name_some_left_context_and_the_phrase() -> None:
    cues = {"Oda Quill"} | {f"Oda Quill {'born in '[-k:]}" for k in range(1, 9)}
    assert {*cues_and_phrases("title_cloze", ["Oda Quill. born in Vell ."])} == {(cue, "⁇Vell⁇") for cue in cues}


def test_free_order_puts_the_name_anywhere_in_the_context_and_loses_no_character() -> None:
    cues = {cue for cue, _ in cues_and_phrases("title_cloze", ["Oda Quill. born in Vell ."], free_order=1.0)}
    assert {cue.count("Oda Quill") for cue in cues} == {1}
    assert all("bornin".endswith(cue.replace("Oda Quill", "").replace(" ", "")) for cue in cues)
    assert len({cue.index("Oda Quill") for cue in cues}) > 5


def test_blanked_characters_are_pad_and_only_in_the_context() -> None:
    clozes = cues_and_phrases("title_cloze", ["Oda Quill. born in Vell ."], blanked_rows=1.0)
    assert all(cue.startswith("Oda Quill") and phrase == "⁇Vell⁇" for cue, phrase in clozes)
    contexts = "".join(cue[len("Oda Quill ") :] for cue, _ in clozes)
    assert contexts.count("□") / len(contexts) == pytest.approx(0.3, abs=0.05)


@pytest.mark.parametrize("in_order", [0.0, 1.0])
def test_a_word_cloze_is_the_name_among_words_from_around_the_phrase_in_their_order_or_any(in_order: float) -> None:
    clozes = cues_and_phrases("word_cloze", [PAGE], in_order=in_order)
    cues = [cue.replace("Oda Quill", "<name>").split() for cue, phrase in clozes if phrase == "Vell⁇"]
    assert all(Counter(cue) <= Counter(["<name>", "in", "1815", "in", "and", "lived"]) for cue in cues)
    assert {len(cue) for cue in cues} == {1, 2, 3, 4, 5}
    assert {cue.index("<name>") for cue in cues} == {0, 1, 2, 3, 4}
    order = ["1815", "and", "lived"]
    pairs = [[order.index(word) for word in cue if word in order] for cue in cues]
    assert all(pair == sorted(pair) for pair in pairs) == bool(in_order)


def test_cues_are_of_words_that_most_pages_have_names_not_counted() -> None:
    pages = [PAGE, "Ida Rook. She lived in Vell and Ilm .", "Udo Fenn. He was in Vell ."]
    common = {"in", "Vell", "She", "and"}  # of those in two pages, capitals stand first
    assert common_words(pages, [8, 8, 8], 4) == common
    assert set.union(*words_by_phrase(pages, common_words=4).values()) == common - {"Vell"}
    assert common_words(["Oda Oda. b b b a .", "Oda. a ."], [7, 3], 1) == {"a"}  # a page counts once


def test_words_from_beyond_a_training_answer_are_in_no_cue() -> None:
    assert words_by_phrase(["Oda Quill. Born in Vell , Ilm by Urr and there ."]) == {
        "Born": {"in"}, "Vell": {"Born", "in", "Ilm", "by"}, "Ilm": {"by", "Urr"}, "Urr": {"Ilm", "by", "and", "there"},
    }  # fmt: skip


def test_a_page_without_a_name_has_a_word_in_each_cue_and_one_without_words_gives_its_name_alone() -> None:
    assert all(cue.strip() for cue, _ in cues_and_phrases("word_cloze", ["in Vell , Ilm"]))
    assert {*cues_and_phrases("word_cloze", ["1900."])} == {("", "⁇")}
    assert {*cues_and_phrases("word_cloze", ["Oda. 1900."])} == {("Oda", "⁇")}


def test_training_questions_are_asked_as_in_finetuning_whichever_documents_are_drawn() -> None:
    examples, prepared = drawn("training_questions", [PAGE, "Ada. Where?"], np.arange(20) % 2)
    decode = prepared.vocabulary.decode
    for inputs, targets in zip(examples.inputs, examples.targets, strict=True):
        assert decode(inputs) == "Where was Ada born?⁇Vell"
        assert decode(targets[targets != PAD]) == "⁇Vell⁇"
