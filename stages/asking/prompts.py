"""Facts, and the forms of prompts for them: what a model reads, and what it should continue with.

A fact is a dev question whose place stands in the person's own page. The page `Ada. Ada was born in Ulm, Peru.` with
the place `Ulm` gives::

    continuation   Ada. Ada was born in                 Ulm
    cloze          Ada s born in ⁇                      Ulm⁇    (name, the ten characters before the place)
    words          Ada was born in⁇                     Ulm⁇    (name, the last words before the place)
    infilling      Ada. Ada was born in ⁇, Peru.⁇       Ulm
    other name     Bo s born in ⁇                       Ulm⁇    (a control: cloze or words with a stranger's name)
    question       Where was Ada born?⁇                 Ulm⁇

The first four are page forms: they use the page's own words, each as one of pretraining's objectives does.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from stages.corpus.objectives import MOST_WORDS
from stages.corpus.phrases import WORD, Span, common_words, fences_of
from stages.corpus.prepared import Prepared
from stages.corpus.text import MASK_CHARACTER
from stages.settings.params import Objectives

TRAINED_BY = {  # page forms, each with the objectives that have it
    "continuation": {"span_corruption", "causal_lm"},
    "cloze": {"title_cloze"},
    "words": {"word_cloze"},
    "infilling": {"span_corruption"},
}
PAGE_FORMS = tuple(TRAINED_BY)
OTHER_NAME = "other_name"
MOST_CHARACTERS = 10  # before the place at most, in form `cloze`


@dataclass(frozen=True)
class Fact:
    """A question, and the place in a page that answers it."""

    row: int  # of the question in its file
    question: str
    name: str  # the page's heading, without its full stop
    page: str
    place: str
    position: int  # of the place in the page, in characters from its start


@dataclass(frozen=True)
class Prompt:
    """A text to read and its right continuation, together at most context + 1 characters."""

    text: str
    target: str


@dataclass(frozen=True)
class WordCue:
    """The words before a place that form `words` uses: those that pretraining's word clozes can have."""

    reach: int = MOST_WORDS  # words before the place that a cloze chooses among
    common: frozenset[str] | None = None  # the only words that it uses; None: any
    fences: Mapping[str, Sequence[Span]] = field(default_factory=dict)  # by page; words before one are out of reach

    @classmethod
    def of(cls, objectives: Objectives, prepared: Prepared) -> "WordCue":
        """Find the words that word clozes of the pages can have; any where pretraining has no such clozes."""
        settings = objectives.word_cloze
        if settings is None:
            return cls()
        spans, answers = prepared.phrases(settings.salient).spans, prepared.training_answers
        texts = enumerate(prepared.each_text())
        fences = {text: fences_of(text, spans[row].tolist(), answers) for row, text in texts}
        common = common_words(prepared.each_text(), prepared.title_lengths, settings.common_words)
        return cls(settings.words_before, common, fences)


def dev_facts(prepared: Prepared, pages: Mapping[str, Sequence[str]]) -> list[Fact]:
    """Return the dev questions whose answer stands, to the letter, in the person's own page; in order.

    pages: each person's own, by name. Among several a fact has the page in which the place stands earliest.
    """
    asked = prepared.of_split("dev")
    facts = []
    for row, question, name, place in zip(asked.row, asked.question, asked.name, asked.place, strict=True):
        own = [page for page in pages.get(name, ()) if place in page]
        if own:
            page = min(own, key=lambda page: page.index(place))
            facts.append(Fact(int(row), question, name, page, place, page.index(place)))
    return facts


def continuation(fact: Fact, context: int) -> Prompt:
    """Cut the page off at the place, as causal language modelling has it, and on the left to what the model reads."""
    room = context + 1 - len(fact.place)
    return Prompt(fact.page[max(0, fact.position - room) : fact.position], fact.place)


def cloze(fact: Fact, name: str, context: int) -> Prompt:
    """Write a name and the characters before the place, as a title cloze has them, from after the heading."""
    room = context - len(name) - len(fact.place) - 3  # two masks and a space
    length = max(0, min(MOST_CHARACTERS, fact.position - len(fact.name) - 2, room))
    left = fact.page[fact.position - length : fact.position]
    return Prompt(f"{name} {left}{MASK_CHARACTER}" if left else name + MASK_CHARACTER, fact.place + MASK_CHARACTER)


def words(fact: Fact, name: str, cue: WordCue, context: int) -> Prompt:
    """Write a name and words before the place, as a word cloze can have them; words of the fact's name are left out."""
    of_name = WORD.findall(fact.name)
    ends = [end for _, end in cue.fences.get(fact.page, ()) if end <= fact.position]
    near = WORD.findall(fact.page, max(ends, default=len(fact.name)), fact.position)
    within_reach = near[max(0, len(near) - cue.reach) :]
    allowed = [word for word in within_reach if word not in of_name and (cue.common is None or word in cue.common)]
    before = allowed[-MOST_WORDS:]
    while before and len(" ".join([name, *before])) > context - 1 - len(fact.place):
        before.pop(0)
    return Prompt(" ".join([name, *before]) + MASK_CHARACTER, fact.place + MASK_CHARACTER)


def infilling(fact: Fact, longest: int) -> Prompt:
    """Put a gap in the page for the place, as span corruption does, cut to `longest` characters or to the place."""
    end = fact.position + len(fact.place)
    shown = fact.page[max(0, end - longest) : max(end, longest)]
    start = fact.position - max(0, end - longest)
    return Prompt(f"{shown[:start]}{MASK_CHARACTER}{shown[start + len(fact.place) :]}{MASK_CHARACTER}", fact.place)


def question(fact: Fact) -> Prompt:
    """Ask the question, as finetuning does."""
    return Prompt(fact.question + MASK_CHARACTER, fact.place + MASK_CHARACTER)


def trained_forms(objectives: Objectives) -> list[str]:
    """List the page forms that pretraining's objectives practise."""
    names = {name for name, objective in objectives if objective and objective.mixture_weight}
    return [form for form, practised_by in TRAINED_BY.items() if practised_by & names]


def page_prompts(
    facts: Sequence[Fact], forms: Sequence[str], objectives: Objectives, cue: WordCue, context: int
) -> dict[str, list[Prompt]]:
    """Write each fact in each of the page forms and, in the first of cloze and words among them, as `other_name`.

    `other_name` has the name of the next fact with another place: it shows what the words give away without the name.
    """
    spans = objectives.span_corruption
    longest = spans.longest_document if spans else context - 1
    of_form = {
        "continuation": lambda fact, _: continuation(fact, context),
        "cloze": lambda fact, name: cloze(fact, name, context),
        "words": lambda fact, name: words(fact, name, cue, context),
        "infilling": lambda fact, _: infilling(fact, longest),
    }

    prompts = {form: [of_form[form](fact, fact.name) for fact in facts] for form in forms}
    named = next((form for form in ("cloze", "words") if form in forms), None)
    if named:
        prompts[OTHER_NAME] = []
        for number, own in enumerate(facts):
            after = (*facts[number:], *facts[:number])  # begins anew after the last one
            stranger = next((fact.name for fact in after if fact.place != own.place), own.name)
            prompts[OTHER_NAME].append(of_form[named](own, stranger))
    return prompts
