"""Forms in which a fact can be asked for: what the model reads, and what it should say then.

Of `Ada. Ada was born in Ulm, Peru.` and the place `Ulm`::

    continuation   Ada. Ada was born in                 Ulm
    cloze          Ada s born in ⁇                      Ulm⁇    (name, the ten characters before the place)
    words          Ada was born in⁇                     Ulm⁇    (name, the last words before the place)
    infilling      Ada. Ada was born in ⁇, Peru.⁇       Ulm
    other name     Bo s born in ⁇                       Ulm⁇    (a control: a stranger's name, else the cloze or,
                                                                 where words alone are practised, the words)
    question       Where was Ada born?⁇                 Ulm⁇

The first four are page forms: they use the page's own wording, each as one of pretraining's objectives does.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from stages.corpus.page import page
from stages.corpus.vocabulary import MASK
from stages.corpus.word_cloze import WORD, common_words, fences_of
from stages.probing.facts import Fact
from stages.settings import Objectives

PAGE_FORMS = ("continuation", "cloze", "words", "infilling")
WORDS = 4  # before the place at most, in form `words`
OTHER_NAME = "other_name"
QUESTION = "question"


@dataclass(frozen=True)
class Asked:
    """What a model reads and what it should say, together at most context + 1 characters."""

    prompt: str
    said: str


@dataclass(frozen=True)
class WordCue:
    """Which words before a place form `words` has: those that pretraining's word clozes can have."""

    reach: int  # how many before the place are within reach
    most: int  # how many of these are taken at most, the last
    common: frozenset[str] | None  # only these; None is any
    fencing: frozenset[str] = frozenset()  # none from before a phrase that is one of these

    @classmethod
    def of(cls, objectives: Objectives, documents: Sequence[str], answers: frozenset[str]) -> "WordCue":
        """documents: all pages, of which the common words are those that most have; answers: of training questions."""
        settings = objectives.word_cloze
        if settings is None:
            return cls(WORDS, WORDS, None)
        common = common_words(documents, settings.common_words)
        fencing = frozenset[str]() if settings.past_answers else answers
        return cls(settings.words_before, min(WORDS, settings.most_words), common, fencing)


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


def words(fact: Fact, name: str, cue: WordCue, context: int) -> Asked:
    """A name and words before the place, as a word cloze can have them; none are of the fact's name."""
    own = WORD.findall(fact.name)
    fences = fences_of(fact.page, page(fact.page), cue.fencing)
    first = max((end for _, end in fences if end <= fact.position), default=len(fact.name))
    text = WORD.findall(fact.page, first, fact.position)
    near = text[max(0, len(text) - cue.reach) :]
    before = [word for word in near if word not in own and (cue.common is None or word in cue.common)]
    before = before[max(0, len(before) - cue.most) :]
    while before and len(" ".join([name, *before])) > context - 1 - len(fact.place):
        before.pop(0)
    return Asked(" ".join([name, *before]) + MASK, fact.place + MASK)


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


def asked_in_all_forms(
    facts: Sequence[Fact], objectives: Objectives, cue: int, word_cue: WordCue, context: int
) -> dict[str, list[Asked]]:
    """Each form of each fact. In `other_name` stands the name of the next fact with another place.

    cue: characters before the place in form `cloze`.
    """
    spans = objectives.span_corruption
    longest = spans.longest_document if spans else context - 1

    def named(form: str, fact: Fact, name: str) -> Asked:
        return cloze(fact, name, cue, context) if form == "cloze" else words(fact, name, word_cue, context)

    control = control_form(objectives)
    return {
        "continuation": [continuation(fact, context) for fact in facts],
        "cloze": [named("cloze", fact, fact.name) for fact in facts],
        "words": [named("words", fact, fact.name) for fact in facts],
        "infilling": [infilling(fact, longest) for fact in facts],
        OTHER_NAME: [named(control, fact, _stranger(facts, i)) for i, fact in enumerate(facts)],
        QUESTION: [question(fact) for fact in facts],
    }


def trained_forms(objectives: Objectives) -> list[str]:
    """The page forms that pretraining's objectives practise."""
    spans, causal = objectives.span_corruption, objectives.causal_lm
    practised = {
        "continuation": any(each and each.mixture_weight for each in (spans, causal)),
        "cloze": bool(objectives.title_cloze and objectives.title_cloze.mixture_weight),
        "words": bool(objectives.word_cloze and objectives.word_cloze.mixture_weight),
        "infilling": bool(spans and spans.mixture_weight),
    }
    return [form for form in PAGE_FORMS if practised[form]]


def control_form(objectives: Objectives) -> str:
    """The form in which a stranger's name is tried: one that is practised, if there is one."""
    trained = trained_forms(objectives)
    return "words" if "words" in trained and "cloze" not in trained else "cloze"


def ranked_form(objectives: Objectives) -> str:
    """The page form in which places are ranked: the control's if it is practised, else another that is."""
    trained, control = trained_forms(objectives), control_form(objectives)
    return control if control in trained or not trained else trained[-1]


def _stranger(facts: Sequence[Fact], place: int) -> str:
    """The name of the first fact after `place`, around the end, whose place is another; else its own."""
    around = [*facts[place:], *facts[:place]]
    return next((each.name for each in around if each.place != facts[place].place), facts[place].name)
