"""Ask a finetuned model a question: `python -m stages ask "Where was Elizabeth Jones born?"`.

Without a question it asks for questions, one a line, until `quit` or Ctrl-D.
"""

import json
import sys
from dataclasses import asdict

from stages.commands.answers import WIDTH, Reply, ask
from stages.commands.options import add_decoding, add_model, check_hypotheses, decoding, load_trained
from stages.commands.session import questions
from stages.system.errors import Parser, StudyError, command, error_line
from stages.system.terminal import harmless, quoted


@command
def main() -> None:
    """Answer a question, or one after another, with the likeliest answers or with drawn ones."""
    parser = Parser(description=__doc__)
    parser.add_argument("question", nargs="?", help="as in training; by default they are read from the input")
    add_model(parser)
    parser.add_argument("--top", type=int, default=5, help="how many answers to print, 5 by default")
    add_decoding(
        parser,
        temperature="draw --top answers and print those that differ; 0: always the likeliest character",
        beams=f"hypotheses of the beam search, {WIDTH} or --top by default; 1: greedy, as in the reports",
    )
    parser.add_argument("--json", action="store_true", help="print one line of JSON a question")
    given = parser.parse_args()
    check_hypotheses("--top", given.top)
    by = decoding(given, None)
    experiment, seed, prepared, model = load_trained(given, "finetune")
    max_characters = experiment.question_recipe.generation.max_characters
    origin = {"recipe": experiment.recipe_name, "variant": experiment.variant, "seed": seed}
    if given.question is not None:
        show(ask(model, prepared, given.question, given.top, max_characters, by), origin, given.json)
        return
    for question in questions(prepared, ", ".join(f"{key} {value}" for key, value in origin.items())):
        try:
            show(ask(model, prepared, question, given.top, max_characters, by), origin, given.json)
        except StudyError as error:  # the next question may be a better one
            print(error_line(str(error)), file=sys.stderr, flush=True)


def show(reply: Reply, origin: dict[str, object], as_json: bool) -> None:
    """Print the answers, whether the page has the first of them, and the notes."""
    if as_json:
        answers = [
            {"answer": text, "probability": round(probability, 6), "in_page": in_page}
            for text, probability, in_page in reply.answers
        ]
        print(json.dumps({**asdict(reply), **origin, "answers": answers}), flush=True)
        return
    rows = [(harmless(answer.text) or "(nothing)", answer.probability) for answer in reply.answers]
    width = max(len(text) for text, _ in rows)
    for text, probability in rows:
        print(f"{text:{width}}  {probability:6.1%}")
    sys.stdout.flush()
    if reply.name and reply.has_page:
        says = "says so, too" if reply.answers[0].in_page else "does not say so"
        print(f"The page of {quoted(reply.name)} {says}.", file=sys.stderr, flush=True)
    for note in reply.notes:
        print(f"note: {harmless(note)}", file=sys.stderr, flush=True)
