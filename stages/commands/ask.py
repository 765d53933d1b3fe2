"""Ask a finetuned model a question: `python -m stages ask "Where was Elizabeth Jones born?"`.

Without a question it reads questions, one a line, until Ctrl-D.
"""

import io
import json
import random
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from difflib import get_close_matches

from stages.asking.generation import beam_search
from stages.asking.prompts import dev_facts
from stages.commands.models import MAX_HYPOTHESES, add_model, load_trained
from stages.corpus.prepared import Prepared
from stages.corpus.questions import NAME, question_prompt
from stages.corpus.text import Vocabulary, folded
from stages.corpus.titles import longest_title, pages_about
from stages.model.gpt import GPT
from stages.system.errors import Parser, UserError, command, error_line, quoted, say, tell, within

WIDTH = 10  # least hypotheses of the beam
CLOSE = 0.8  # difflib's likeness of two names: one or two letters of ten differ
NAMES = 3  # examples of names in the welcome
UNSURE = "I don't know"


@dataclass(frozen=True)
class Answer:
    """One answer; `in_page`: whether a page about the question's name has it."""

    answer: str
    probability: float
    in_page: bool


@dataclass(frozen=True)
class Reply:
    """A model's answers to a question, and what the corpus has about its name."""

    question: str
    answers: list[Answer]  # the likeliest first
    name: str | None  # whom it asks about; None: it has not the form of the training questions, and names no page
    has_page: bool
    did_you_mean: str | None  # the page most alike in name, where there is none of this name
    notes: list[str]  # reasons not to rely on the answers


def ask(model: GPT, prepared: Prepared, question: str, top: int, max_characters: int) -> Reply:
    """Return the `top` likeliest answers; a question of another form than the training questions gets a note.

    Raises UserError: the question is too long, or has no character that the corpus has.
    """
    question = question.removeprefix("\ufeff").strip()  # a byte order mark begins many a file
    vocabulary = prepared.vocabulary
    tokens = question_prompt(vocabulary.encode(question))
    if len(tokens) == 1:
        raise UserError(f"{quoted(question)} has no character that the corpus has; ask: {usual_form(prepared)}")
    if len(tokens) > model.context:
        raise UserError(
            f"{quoted(question)} has {len(tokens) - 1} characters; the model reads {model.context - 1} at most"
        )
    continuations = beam_search(model, [tokens], max_characters, max(top, WIDTH))[0][:top]

    asked = next(filter(None, (form.name(question) for form in prepared.question_forms)), None)
    titles = {title.casefold(): title for title in map(prepared.title, range(len(prepared.documents)))}
    title = "" if asked else titles.get(longest_title(titles, question.casefold()), "")
    name = asked or (title if title and title in question else None)
    pages = [folded(page) for page in pages_about(prepared.texts, {name}).get(name, [])] if name else []
    answers = []
    for continuation in continuations:
        text = vocabulary.decode(continuation.tokens)
        in_page = bool(text) and any(folded(text) in page for page in pages)
        answers.append(Answer(text, round(continuation.probability, 6), in_page))

    suggestion = None
    notes = []
    if asked is None:
        notes.append(f"the model was finetuned on questions of the form `{usual_form(prepared)}` only")
        if title and not name:
            suggestion = title
            notes.append(f"did you mean {quoted(suggestion)}?")
    elif not pages:
        near = get_close_matches(asked.casefold(), sorted(titles), 1, CLOSE)
        suggestion = titles[near[0]] if near else None
        advice = f"did you mean {quoted(suggestion)}?" if suggestion else "the model can but guess"
        notes.append(f"no page of the corpus is about {quoted(asked)}: {advice}")
    # around the name stands what training questions have, too: only the name may have characters that the corpus lacks
    if note := lacking(prepared.vocabulary, name or question):
        notes.append(note)
    return Reply(question, answers, name, bool(pages), suggestion, notes)


def usual_form(prepared: Prepared) -> str:
    """Return the form of most training questions, with NAME for the name."""
    return prepared.question_forms[0].about(NAME)


def lacking(vocabulary: Vocabulary, text: str) -> str:
    """Return a note on the characters of a text that a vocabulary lacks; empty if it has all."""
    unknown = " ".join(dict.fromkeys(vocabulary.unknown(text)))
    read = vocabulary.decode(vocabulary.encode(text))
    return f"the corpus lacks {unknown}, so the model reads '{read}'" if unknown else ""


@command
def main() -> None:
    """Answer a question, or one after another, with the likeliest answers."""
    parser = Parser(description=__doc__)
    parser.add_argument("question", nargs="*", help="as in training; by default they are read from the input")
    add_model(parser)
    parser.add_argument(
        "--top", type=within(1, MAX_HYPOTHESES), default=5, help="how many answers to print, 5 by default"
    )
    chance = within(0, 1, float)
    parser.add_argument("--at-least", type=chance, default=0.0, help=f"say `{UNSURE}` below this probability (0 to 1)")
    parser.add_argument("--json", action="store_true", help="print one line of JSON a question")
    given = parser.parse_args()
    trained = load_trained("finetune", given.recipe, given.variant, given.seed)
    experiment, prepared, model = trained.experiment, trained.prepared, trained.model
    max_characters = experiment.question_recipe.generation.max_characters
    origin = {"recipe": experiment.recipe_name, "variant": experiment.variant, "seed": trained.seed}

    if not given.json:  # which has it in each line
        tell("Model: " + ", ".join(f"{key} {value}" for key, value in origin.items()))

    # without quotes the shell gives a question's words one by one
    for question in [" ".join(given.question)] if given.question else questions(prepared):
        try:
            reply = ask(model, prepared, question, given.top, max_characters)
            show(reply, origin, given.json, given.at_least)
        except UserError as error:
            if given.json:
                print(json.dumps({"question": question, "error": str(error)} | origin), flush=True)
            if given.question:
                raise
            tell(error_line(str(error)))  # the next question may be a better one


def questions(prepared: Prepared) -> Iterator[str]:
    """Read the input's lines that are not blank, up to its end; say at a terminal what to ask."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    if sys.stdin.isatty():
        pages = pages_about(prepared.texts, {*prepared.of_split("dev").name})
        names = sorted({fact.name for fact in dev_facts(prepared, pages)})
        tell(f"Ask: {usual_form(prepared)}")
        tell(f"Names to try: {', '.join(random.sample(names, min(NAMES, len(names))))}")
        tell("Ctrl-D ends")
    yield from filter(None, map(str.strip, sys.stdin))


def show(reply: Reply, origin: dict[str, object], as_json: bool, at_least: float) -> None:
    """Print the answers, whether the page has the first of them, and the notes.

    at_least: answers of a smaller probability are left out, and UNSURE is printed where none remains. JSON keeps all
    answers; its `i_dont_know` says whether none remains.
    """
    answers = [answer for answer in reply.answers if answer.probability >= at_least]
    if as_json:
        print(json.dumps(asdict(reply) | {"i_dont_know": not answers} | origin), flush=True)
        return

    texts = [answer.answer or "(nothing)" for answer in answers]
    width = max(map(len, texts), default=0)
    for text, answer in zip(texts, answers, strict=True):
        say(f"{text:{width}}  {answer.probability:6.1%}")
    if not answers:
        say(UNSURE)

    if answers and reply.name and reply.has_page:
        tell(f"The page of {quoted(reply.name)} {'has' if answers[0].in_page else 'does not have'} these words.")
    for note in reply.notes:
        tell(f"note: {note}")
