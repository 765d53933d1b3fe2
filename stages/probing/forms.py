"""Forms in which a fact can be asked for: what the model reads, and what it should say then.

Of `Ada. Ada was born in Ulm, Peru.` and the place `Ulm`::

    continuation   Ada. Ada was born in                 Ulm
    cloze          Ada s born in ⁇                      Ulm⁇    (name, the ten characters before the place)
    words          Ada Ada was born in⁇                 Ulm⁇    (name, the four words before the place)
    infilling      Ada. Ada was born in ⁇, Peru.⁇       Ulm
    other name     Bo s born in ⁇                       Ulm⁇    (the cloze with a stranger's name: a control)
    question       Where was Ada born?⁇                 Ulm⁇

The first four are page forms: they use the page's own wording, each as one of pretraining's objectives does.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from stages.corpus.vocabulary import MASK
from stages.corpus.word_cloze import WORD
from stages.probing.facts import Fact
from stages.settings import Objectives

PAGE_FORMS = ("continuation", "cloze", "words", "infilling")
WORDS = 4  # before the place, in form `words`
OTHER_NAME = "other_name"
QUESTION = "question"


@dataclass(frozen=True)
class Asked:
    """What a model reads and what it should say, together at most context + 1 characters."""

    prompt: str
    said: str


def continuation(fact: Fact, context: int) -> Asked:
    """The page up to the place, as causal language modelling and span corruption's prefix have it.

    Where that is more than the model reads, it is cut from the left.
    """
    room = context + 1 - len(fact.place)
    return Asked(fact.page[max(0, fact.position - room) : fact.position], fact.place)


def cloze(fact: Fact, name: str, cue: int, context: int) -> Asked:
    """A name and at most `cue` characters before the place, as a title cloze has them; none are of the heading."""
    room = context - len(name) - len(fact.place) - 3  # two masks and a space
    length = max(0, min(cue, fact.position - len(fact.name) - 2, room))
    left = fact.page[fact.position - length : fact.position]
    return Asked(f"{name} {left}{MASK}" if left else name + MASK, fact.place + MASK)


def words(fact: Fact, context: int) -> Asked:
    """A name and the last words before the place, as a word cloze can have them; none are of the heading."""
    before = [match.group() for match in WORD.finditer(fact.page, len(fact.name), fact.position)][-WORDS:]
    while before and len(" ".join([fact.name, *before])) > context - 1 - len(fact.place):
        before.pop(0)
    return Asked(" ".join([fact.name, *before]) + MASK, fact.place + MASK)


def infilling(fact: Fact, longest: int) -> Asked:
    """The page with a gap for the place, as span corruption has it, the page truncated to `longest` characters.

    Where the place lies beyond, the truncated page is the `longest` characters that end with it.
    """
    end = fact.position + len(fact.place)
    shown = fact.page[max(0, end - longest) : max(end, longest)]
    start = fact.position - max(0, end - longest)
    return Asked(f"{shown[:start]}{MASK}{shown[start + len(fact.place) :]}{MASK}", fact.place)


def question(fact: Fact) -> Asked:
    """The question, as finetuning has it."""
    return Asked(f"Where was {fact.name} born?{MASK}", fact.place + MASK)


def asked_in_all_forms(facts: Sequence[Fact], objectives: Objectives, cue: int, context: int) -> dict[str, list[Asked]]:
    """Each form of each fact. In `other_name` stands the name of the next fact with another place."""
    spans = objectives.span_corruption
    longest = spans.longest_document if spans else context - 1
    return {
        "continuation": [continuation(fact, context) for fact in facts],
        "cloze": [cloze(fact, fact.name, cue, context) for fact in facts],
        "words": [words(fact, context) for fact in facts],
        "infilling": [infilling(fact, longest) for fact in facts],
        OTHER_NAME: [cloze(fact, _stranger(facts, i), cue, context) for i, fact in enumerate(facts)],
        QUESTION: [question(fact) for fact in facts],
    }


def trained_forms(objectives: Objectives) -> list[str]:
    """The page forms that pretraining's objectives practise."""
    spans, causal = objectives.span_corruption, objectives.causal_lm
    practised = {
        "continuation": any(each and each.share for each in (spans, causal)),
        "cloze": bool(objectives.title_cloze and objectives.title_cloze.share),
        "words": bool(objectives.word_cloze and objectives.word_cloze.share),
        "infilling": bool(spans and spans.share),
    }
    return [form for form in PAGE_FORMS if practised[form]]


def _stranger(facts: Sequence[Fact], place: int) -> str:
    """The name of the first fact after `place`, around the end, whose place is another; else its own."""
    around = [*facts[place:], *facts[:place]]
    return next((each.name for each in around if each.place != facts[place].place), facts[place].name)
