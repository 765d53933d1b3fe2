"""Stage `baseline`: the scores of four baselines, two of which see the pages, and what could be known at best."""

from pathlib import Path

import pandas as pd

from stages.corpus.baselines import letters, rule
from stages.corpus.folding import spelled_as
from stages.corpus.prepared import AUDIT, Prepared, write_table
from stages.settings import load
from stages.system.errors import Parser, command
from stages.system.files import new_folder, write_json
from stages.system.tables import read_table
from stages.system.terminal import say

ANSWERS = ["constant", "letters", "rule", "reader"]
QUESTION_COLUMNS = ["split", "row", "question", "gold", *ANSWERS[1:], "training_questions"]


def percent(marks: pd.Series) -> float:
    """Return the share of marks that are 1 or true, in percent to two decimals; 0 without marks."""
    return round(100 * float(marks.mean()), 2) if len(marks) else 0.0


@command
def main() -> None:
    """Score the baselines of a recipe on dev."""
    parser = Parser(description=main.__doc__)
    parser.add_argument("--recipe", required=True)
    arguments = parser.parse_args()
    recipe = load().question_recipe(arguments.recipe)
    source = Path("data/prepared") / arguments.recipe
    prepared = Prepared.load(source)
    table = prepared.table

    asked = table[table.split != "train"].merge(read_table(source / "audit.tsv", AUDIT), "left", ["split", "row"])
    asked = asked.rename(columns={"place": "gold", "train_count": "training_questions"})
    likeliest = prepared.likeliest(prepared.candidates)
    asked["reader"] = [likeliest.get(name, "") for name in asked.name]
    asked["rule"] = rule(prepared, asked.name.tolist())
    asked["letters"] = letters(prepared, asked.name.tolist())

    place = recipe.baseline.place or prepared.of_split("train").place.mode()[0]  # the first by name
    asked["constant"] = place
    if recipe.any_spelling:
        for answer in ANSWERS:
            asked[answer] = spelled_as(asked.gold, asked[answer])

    dev = asked[asked.split == "dev"]
    result = {
        "place": place,
        "dev_accuracy": percent(dev.gold == dev.constant),
        "dev_questions": len(dev),
        **{f"{answer}_accuracy": percent(dev.gold == dev[answer]) for answer in ANSWERS[1:]},
        "answer_in_page": int(dev.in_page.sum()),
        "ceiling": percent(dev.in_page),
        "held_out": recipe.data.held_out,
    }
    with new_folder(Path("data/evaluations") / arguments.recipe / "baseline") as folder:
        write_json(folder / "baseline.json", result)
        write_table(folder / "questions.tsv", asked[QUESTION_COLUMNS])
    scored = f"{(dev.gold == dev.constant).sum()} of {len(dev)} dev = {result['dev_accuracy']} %"
    others = "; ".join(f"the {answer}: {result[f'{answer}_accuracy']} %" for answer in ANSWERS[1:])
    say(f"{place}: {scored}; {others}")


if __name__ == "__main__":
    main()
