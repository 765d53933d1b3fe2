"""Ask a finetuned model a question: `python -m stages.ask "Where was Elizabeth Jones born?"`.

Without a question it asks for questions, one a line, until Ctrl-D.
"""

import io
import json
import sys
from collections.abc import Iterator

from stages.asking.answers import WIDTH, Reply, ask, usual
from stages.asking.options import add_decoding, add_model, check_hypotheses, decoding, load_trained
from stages.system.errors import Parser, StudyError, command, error_line
from stages.system.terminal import harmless


@command
def main() -> None:
    """Answer a question, or one after another, with the likeliest places or with drawn ones."""
    parser = Parser(description=__doc__)
    parser.add_argument("question", nargs="?", help="as in training; by default they are read from the input")
    add_model(parser)
    parser.add_argument("--top", type=int, default=5, help="how many places to print, 5 by default")
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
    for question in questions(usual(prepared)):
        try:
            show(ask(model, prepared, question, given.top, max_characters, by), origin, given.json)
        except StudyError as error:  # the next question may be a better one
            print(error_line(str(error)), file=sys.stderr, flush=True)


def show(reply: Reply, origin: dict[str, object], as_json: bool) -> None:
    """Print the places and the notes."""
    if as_json:
        answers = [{"place": place, "probability": round(probability, 6)} for place, probability in reply.places]
        line = {"question": reply.question, **origin, "answers": answers, "notes": reply.notes}
        print(json.dumps(line), flush=True)
        return
    rows = [(harmless(place) or "(nothing)", probability) for place, probability in reply.places]
    width = max(len(place) for place, _ in rows)
    for place, probability in rows:
        print(f"{place:{width}}  {probability:6.1%}")
    sys.stdout.flush()
    for note in reply.notes:
        print(f"note: {harmless(note)}", file=sys.stderr, flush=True)


def questions(form: str) -> Iterator[str]:
    """The input's lines that are not blank, up to its end (Ctrl-D)."""
    if sys.stdin is None:  # closed
        return
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    if sys.stdin.isatty():
        print(f"Ask: {harmless(form)} One question a line, Ctrl-D ends.", file=sys.stderr, flush=True)
    yield from (line for line in sys.stdin if line.strip())


if __name__ == "__main__":
    main()
