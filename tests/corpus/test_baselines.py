"""The rule and the letters, on pages and names whose answers are found by hand; and what goes by form of question."""

from dataclasses import replace

import pytest

from stages.corpus.baselines import by_form, letters, rule
from stages.corpus.phrases import Phrases
from stages.corpus.prepared import Prepared
from stages.corpus.questions import Question


def asking(train: dict[str, str], pages: list[str] | None = None) -> Prepared:
    """Training questions with their answers, by name, and pages."""
    questions = [
        Question(i, f"Where was {name} born?", name, place) for i, (name, place) in enumerate(train.items(), 1)
    ]
    return Prepared.of(pages or ["Nobody. Nothing."], {"train": questions, "dev": [], "test": []})


@pytest.mark.parametrize(
    ("page", "answer"),
    [
        ("Oda. Painter, born in Ilm, lived in Vell.", "Ilm"),
        ("Oda. Painter, born in Brod, lived in Vell.", "Vell"),  # nobody of train was born in Brod
        ("Oda. Painter, born in New Vell.", ""),  # another phrase
        ("Oda. Painter, born in Port Ilm by Ilm.", "Port Ilm"),
        ("Oda. Painter, born in ilm.", ""),
        ("Ilm Oda. Painter of Ilm and Vell.", "Vell"),  # the title's words are no phrase
        ("Oda. Painter, born in O’Dea.", "O’Dea"),  # another spelling of a training answer
        ("Oda. Painter.", ""),
    ],
)
def test_the_rule_says_the_first_phrase_that_answers_a_training_question(page: str, answer: str) -> None:
    prepared = asking(
        {"Tam": "Vell", "Ivo": "Ilm", "Mia": "Port Ilm", "Lu": "O'Dea"}, [page, page.replace("born", "x")]
    )
    assert rule(prepared, [page.partition(".")[0], "Nobody"]) == [answer, ""]


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        (("oss", "oss", "Vell", "Ilm"), "oss"),  # Vell and Ilm answer no other question: right for 2 against 0
        (("oss", "oss", "Vell", "Vell"), "Vell"),  # 2 against 2
        (("oss", "kip", "Vell", "Vell"), "Vell"),
    ],
)
def test_phrases_are_cut_as_is_right_for_more_training_questions_without_their_own_answers(
    answers: tuple[str, ...], said: str
) -> None:
    train = dict(zip(("Tam", "Ivo", "Mia", "Lux"), answers, strict=True))
    pages = [f"{name}. Painter of {answer}." for name, answer in train.items()]
    prepared = asking(train, [*pages, "Oda. Painter of Vell and oss."])
    small = [[(page.index(word), page.index(word) + 3)] if (word := "oss") in page else [] for page in prepared.texts]
    assert rule(replace(prepared, candidates=Phrases.alike(small)), ["Oda"]) == [said]


@pytest.mark.parametrize(
    ("train", "name", "answer"),
    [
        ({"a": "X", "b": "Y", "bb": "Y"}, "a", "X"),
        ({"a": "X", "b": "Y", "bb": "Y"}, "c", "Y"),  # no letter is known: the commoner one
        ({"a": "Y", "b": "X"}, "c", "X"),  # of equals the first by name
        ({"ab": "X", "ba": "Y"}, "abc", "X"),  # the order of letters and the name's edges count
        ({"ab": "X", "ba": "Y"}, "cba", "Y"),
        # Of the 9 runs `a` has ^ a $ ^a a$ ^a$, the edges ^ and $ being one. X: 1/4 (3/15)² (2/15)⁴ = 3.2e-6.
        # Y, with 18 runs in 3 names: 3/4 (7/27)² (1/27)⁴ = 0.1e-6. Of `ab` ^ a b $ ^a b$ are known, and favour Y:
        # X: 1/4 (3/15)² (2/15)² (1/15)² = 0.8e-6, Y: 3/4 (7/27)² (1/27)² (4/27)² = 1.5e-6.
        ({"a": "X", "b": "Y", "b ": "Y", " b": "Y"}, "a", "X"),
    ],
)
def test_letters_answer_by_the_runs_that_names_share(train: dict[str, str], name: str, answer: str) -> None:
    assert letters(asking(train), [name]) == [answer]


BORN, DIED, RARE = "Where was {} born?", "Where did {} die?", "Who bore {}?"


@pytest.mark.parametrize(
    ("forms", "rare", "apart"),
    [
        ([BORN], "", []),  # one form is what all was learned from
        (["{}"], "", []),  # a name alone is no form
        ([BORN, "{}"], "", []),
        ([BORN, BORN.replace(" born", "\u00a0born")], "", []),  # another spelling is no other form
        ([BORN], RARE, [BORN, RARE]),  # 1 of 19 is a twentieth or more
        ([BORN, DIED], RARE, [BORN, DIED]),  # 1 of 37 is less
    ],
)
def test_forms_that_many_training_questions_have_are_learned_apart(
    forms: list[str], rare: str, apart: list[str]
) -> None:
    names = [f"Oda {letter}am" for letter in "ABCDEFGHIJKLMNOPQR"]
    asked = [(form, name) for name in names for form in forms] + [(rare, names[0])] * bool(rare)
    train = [Question(i, form.format(name), name, "Vell") for i, (form, name) in enumerate(asked, 1)]
    of_form = by_form(Prepared.of(["Nobody. Nothing."], {"train": train, "dev": [], "test": []}))
    assert [*of_form] == [form.format("NAME") for form in apart]
