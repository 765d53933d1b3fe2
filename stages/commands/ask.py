"""Ask a finetuned model a question: `python -m stages ask "Where was Elizabeth Jones born?"`.

Without a question it reads questions, one a line, until Ctrl-D.
"""

import io
import json
import random
import sys
from collections.abc import Iterator
from dataclasses import asdict

from stages.commands.answers import Reply, ask, usual_form
from stages.commands.options import MAX_HYPOTHESES, add_model
from stages.commands.trained import named
from stages.corpus.prepared import Prepared
from stages.probing.prompts import dev_facts
from stages.sources.audit import own_pages
from stages.system.errors import Parser, StudyError, command, error_line, within
from stages.system.terminal import quoted, say, tell

NAMES = 3  # examples of names in the welcome
UNSURE = "I don't know"


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
    trained = named(given, "finetune")
    experiment, prepared, model = trained.experiment, trained.prepared, trained.model
    max_characters = experiment.question_recipe.generation.max_characters
    origin = {"recipe": experiment.recipe_name, "variant": experiment.variant, "seed": trained.seed}

    if not given.json:  # which has it in each line
        tell("Model: " + ", ".join(f"{key} {value}" for key, value in origin.items()))

    def answer(question: str) -> None:
        reply = ask(model, prepared, question, given.top, max_characters)
        show(reply, origin, given.json, given.at_least)

    if given.question:
        answer(" ".join(given.question))  # without quotes the shell gives its words one by one
        return

    for question in questions(prepared):
        try:
            answer(question)
        except StudyError as error:  # the next question may be a better one
            tell(error_line(str(error)))


def questions(prepared: Prepared) -> Iterator[str]:
    """Read the input's lines that are not blank, up to its end; say at a terminal what to ask."""
    if sys.stdin is None:  # closed
        return
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    if sys.stdin.isatty():
        for line in welcome(prepared):
            tell(line)
    yield from filter(None, map(str.strip, sys.stdin))


def welcome(prepared: Prepared) -> tuple[str, ...]:
    """Return lines that say what to ask, and how to end."""
    pages = own_pages(prepared.texts, {*prepared.of_split("dev").name})
    names = sorted({fact.name for fact in dev_facts(prepared, pages)})
    examples = ", ".join(random.sample(names, min(NAMES, len(names))))
    return f"Ask: {usual_form(prepared)}", f"Names to try: {examples}", "Ctrl-D ends"


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
        tell(f"The page of {quoted(reply.name)} {'says so, too' if answers[0].in_page else 'does not say so'}.")
    for note in reply.notes:
        tell(f"note: {note}")
