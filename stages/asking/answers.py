"""Ask a finetuned model one question: its likeliest places, and notes on the question."""

from dataclasses import dataclass

from stages.corpus.prepared import Prepared
from stages.corpus.question_forms import question_forms
from stages.corpus.questions import prompt
from stages.corpus.vocabulary import Vocabulary
from stages.inference.decoding import Pick
from stages.inference.generation import beam_search, generate
from stages.model.gpt import GPT
from stages.system.errors import StudyError
from stages.system.terminal import harmless, quoted

WIDTH = 10  # hypotheses of the beam, at least, unless their number is given


@dataclass(frozen=True)
class Reply:
    """What a model answers."""

    question: str
    places: list[tuple[str, float]]  # with their probabilities, the likeliest first
    notes: list[str]  # reasons not to rely on them


def ask(
    model: GPT, prepared: Prepared, question: str, top: int, max_characters: int, by: Pick | int | None = None
) -> Reply:
    """The `top` likeliest places. A question of any form is answered, with a note.

    by: the width of the beam that searches for them. Or what chooses each character: then `top` answers are drawn, and
    those that differ are given. Raises StudyError: the question is too long, or has no character that the corpus has.
    """
    question = question.strip()
    vocabulary = prepared.vocabulary
    tokens = prompt(vocabulary.encode(question))
    if len(tokens) == 1:
        raise StudyError(f"{quoted(question)} has no character that the corpus has; ask: {usual(prepared)}")
    if len(tokens) > model.context:
        raise StudyError(
            f"{quoted(question)} has {len(tokens) - 1} characters; the model reads {model.context - 1} at most"
        )
    if by is None or isinstance(by, int):
        answers = beam_search(model, [tokens], max_characters, by or max(top, WIDTH))[0][:top]
    else:
        answers = generate(model, [tokens] * top, max_characters, by)
    said = {vocabulary.decode(answer.tokens): answer.probability for answer in answers}
    places = sorted(said.items(), key=lambda place: -place[1])
    return Reply(question, places, _notes(prepared, question))


def _notes(prepared: Prepared, question: str) -> list[str]:
    notes = []
    name = next(filter(None, (form.name(question) for form in question_forms(prepared))), None)
    if name is None:
        notes.append(f"the model was finetuned on questions of the form `{usual(prepared)}` only")
    elif not any(text.startswith(f"{name}.") for text in prepared.each_text()):  # as the audit has it
        notes.append(f"no page of the corpus is about {quoted(name)}: the model can but guess")
    # the model was finetuned on what all questions share: only the name may have characters that it lacks
    if note := lacking(prepared.vocabulary, name or question):
        notes.append(note)
    return notes


def usual(prepared: Prepared) -> str:
    """The form of most training questions, with NAME for the name."""
    return question_forms(prepared)[0].about("NAME")


def lacking(vocabulary: Vocabulary, text: str) -> str:
    """A note of the characters of a text that a vocabulary lacks, and of what the model reads then; or nothing."""
    unknown = harmless(" ".join(dict.fromkeys(vocabulary.unknown(text))))
    read = vocabulary.decode(vocabulary.encode(text))
    return f"the corpus lacks {unknown}, so the model reads {quoted(read, max(1, len(read)))}" if unknown else ""
