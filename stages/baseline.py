"""Stage `baseline`: what a constant answer scores and a reader of the pages, and what could be known at best."""

from pathlib import Path
from typing import Any

import pandas as pd

from stages.corpus.folding import spelled_as
from stages.corpus.prepared import AUDIT, Prepared, write_table
from stages.corpus.shown import shown
from stages.settings import load
from stages.sources.name_groups import group_of
from stages.system.digests import result_folder
from stages.system.errors import Parser, command
from stages.system.files import write_json, write_text
from stages.system.records import read_table
from stages.system.terminal import harmless

SHOWN = 3  # pages
QUESTION_COLUMNS = ["split", "row", "question", "gold", "reader", "training_questions", "group", "distance"]


def percent(part: float, whole: float) -> float:
    """part / whole in percent, to two decimals; 0 of nothing."""
    return round(100 * part / whole, 2) if whole else 0.0


def constant_baseline(table: pd.DataFrame, audit: pd.DataFrame, place: str | None) -> dict[str, Any]:
    """Accuracies in percent on dev of always answering `place`, and of the training set's best constant.

    Without a place the best stands for it. table: questions.tsv (split, row, question, place); audit: audit.tsv. The
    ceiling is the share of dev answers that stand in the person's own page.
    """
    dev = table[table.split == "dev"].place
    counts = table[table.split == "train"].place.value_counts()
    best = min(counts[counts == counts.max()].index)  # ties: first by name
    place = place or best
    known = audit[audit.split == "dev"]
    return {
        "place": place,
        "dev_accuracy": percent((dev == place).sum(), len(dev)),
        "dev_correct": int((dev == place).sum()),
        "dev_questions": len(dev),
        "best_constant": {"place": best, "dev_accuracy": percent((dev == best).sum(), len(dev))},
        "audit": {"answer_in_page": int(known.in_page.sum()), "ceiling": percent(known.in_page.sum(), len(known))},
    }


def training_questions(table: pd.DataFrame, places: pd.Series) -> pd.Series:
    """Count for each of the `places` the training questions that it answers; table: questions.tsv (split, place)."""
    counts = table[table.split == "train"].place.value_counts()
    return places.map(counts).fillna(0).astype(int)


def distances(asked: pd.DataFrame, audit: pd.DataFrame) -> list[str]:
    """Return how many characters of the own page stand between title and gold place; empty where it does not stand.

    asked: with split, row, name; audit: audit.tsv (split, row, position).
    """
    positions = asked[["split", "row"]].merge(audit, "left", ["split", "row"]).position
    known = zip(positions, asked.name, strict=True)
    return [str(max(0, int(position) - len(name))) if position >= 0 else "" for position, name in known]


@command
def main() -> None:
    """Score the constant answer of a recipe on dev."""
    parser = Parser(description=main.__doc__)
    parser.add_argument("--recipe", required=True)
    arguments = parser.parse_args()
    recipe = load().question_recipe(arguments.recipe)
    source = Path("data/prepared") / arguments.recipe
    prepared = Prepared.load(source)
    table = prepared.table
    audit = read_table(source / "audit.tsv", AUDIT)
    result = constant_baseline(table, audit, recipe.baseline.place)
    result["held_out"] = recipe.data.held_out

    asked = table[table.split != "train"].rename(columns={"place": "gold"})
    likeliest = prepared.likeliest(prepared.candidates)
    asked["reader"] = [likeliest.get(name, "") for name in asked.name]
    if recipe.any_spelling:
        asked["reader"] = spelled_as(asked.gold, asked.reader)
    asked["training_questions"] = training_questions(table, asked.gold)
    asked["group"] = [group_of(name, recipe.data.source) for name in asked.name]
    asked["distance"] = distances(asked, audit)
    dev = asked[asked.split == "dev"]
    result["reader"] = {"dev_accuracy": percent((dev.reader == dev.gold).sum(), len(dev))}

    with result_folder(Path("data/evaluations") / arguments.recipe / "baseline") as folder:
        write_json(folder / "baseline.json", result)
        pages = range(1, min(SHOWN, len(prepared.documents)) + 1)
        write_text(folder / "examples.txt", "\n".join(shown(prepared, recipe, [*pages])) + "\n")
        write_table(folder / "questions.tsv", asked[QUESTION_COLUMNS])
    scored = f"{result['dev_correct']} of {result['dev_questions']} dev = {result['dev_accuracy']} %"
    print(f"{harmless(result['place'])}: {scored}; the reader: {result['reader']['dev_accuracy']} %")


if __name__ == "__main__":
    main()
