"""Stage `baseline`: the scores of four baselines, two of which see the pages, and what could be known at best."""

from pathlib import Path

import pandas as pd

from stages.corpus.baselines import by_form, letters, rule
from stages.corpus.prepared import Prepared
from stages.corpus.questions import written_forms
from stages.corpus.tables import ASKED_COLUMNS, AUDIT_COLUMNS, read_table, write_table
from stages.corpus.text import spelled_as
from stages.settings.params import load
from stages.system.errors import Parser, command, say
from stages.system.files import PREPARED, new_folder, write_json, write_metrics

ANSWERS = ["constant", "letters", "rule", "reader"]


@command
def main() -> None:
    """Score the baselines of the selected recipe on dev."""
    Parser(description=main.__doc__).parse_args()
    params = load()
    recipe = params.question_recipe(params.recipe)
    source = PREPARED / params.recipe
    prepared = Prepared.load(source)
    asked = answered(prepared, read_table(source / "audit.tsv", AUDIT_COLUMNS))
    place = recipe.baseline.place or prepared.of_split("train").place.mode()[0]  # the first by name
    asked["constant"] = place
    if recipe.any_spelling:
        for answer in ANSWERS:
            asked[answer] = spelled_as(asked.gold, asked[answer])

    dev = asked[asked.split == "dev"]
    marks = pd.DataFrame({answer: dev.gold == dev[answer] for answer in ANSWERS} | {"ceiling": dev.in_page})
    accuracy = {name: round(100 * float(share), 2) for name, share in marks.mean().fillna(0.0).items()}
    ceiling = accuracy.pop("ceiling")
    result = {
        "place": place,
        "dev_questions": len(dev),
        "accuracy": accuracy,
        "ceiling": ceiling,
        "held_out": recipe.data.held_out,
    }
    with new_folder(Path("data/baseline") / params.recipe) as folder:
        write_json(folder / "baseline.json", result)
        write_table(folder / "questions.tsv", asked[[*ASKED_COLUMNS]])
    write_metrics("baseline", rule=accuracy["rule"], reader=accuracy["reader"], ceiling=ceiling)
    scored = f"{(dev.gold == dev.constant).sum()} of {len(dev)} dev = {accuracy['constant']} %"
    others = "; ".join(f"the {answer}: {accuracy[answer]} %" for answer in ANSWERS[1:])
    say(f"{place}: {scored}; {others}")


def answered(prepared: Prepared, audit: pd.DataFrame) -> pd.DataFrame:
    """Return the questions of dev and test with what reader, rule and letters answer; audit: of all questions."""
    table = prepared.table
    asked = table[table.split != "train"].merge(audit, "left", ["split", "row"])
    asked = asked.rename(columns={"place": "gold", "train_count": "training_questions"})
    forms, trained = written_forms(asked), {*written_forms(prepared.of_split("train"))}
    asked["form"] = [form if form in trained else "" for form in forms]
    asked[["reader", "rule", "letters"]] = ""
    of_form = by_form(prepared)
    for form in {*asked.form}:
        learned, members = of_form.get(form, prepared), asked.form == form
        names = asked.name[members].tolist()
        likeliest = learned.reader_answers()
        asked.loc[members, "reader"] = [likeliest.get(name, "") for name in names]
        asked.loc[members, "rule"] = rule(learned, names)
        asked.loc[members, "letters"] = letters(learned, names)
    return asked


if __name__ == "__main__":
    main()
