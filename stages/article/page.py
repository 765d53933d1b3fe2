"""Stage `article`: a page in which one asks the models, one file without a network: reports/article/index.html."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from stages.article.models import MODELS, STUDY, WAYS, job_of_model, people_asked_about, shown_model
from stages.article.sections import (
    FULL,
    HANDOUT,
    OPEN,
    UNAIDED,
    Chart,
    charts,
    metrics,
    published_shares,
    stored_after,
)
from stages.asking.prompts import MOST_CHARACTERS, dev_facts
from stages.corpus.prepared import Prepared
from stages.corpus.tables import AUDIT_COLUMNS, read_table
from stages.corpus.titles import pages_about
from stages.reporting.html import style_and_script
from stages.reporting.markdown import environment, short
from stages.settings.params import load
from stages.system.errors import Parser, UserError, command
from stages.system.files import new_folder, write_text

TARGET = Path("reports/article")
HTML = Path(__file__).parent / "html"
SCRIPTS = ("engine", "ask", "figures")  # engine: the model in plain JavaScript
NEAR = 3.0  # points from the best variant
LONGER, ALONE, ANSWERS = "pages_only_longer", "unaided", "with_reader"


@command
def main() -> None:
    """Write the page from the models of study `article` and the committed reports."""
    Parser(description=main.__doc__).parse_args()
    settings = load()
    trials = {name: job_of_model(model, settings) for name, model in MODELS.items()}
    data = trials[ANSWERS].prepared
    prepared = Prepared.load(data)
    audit = read_table(data / "audit.tsv", AUDIT_COLUMNS)
    pages = pages_about(prepared.texts, {*prepared.table.name})
    facts = dev_facts(prepared, pages)
    content = {
        "characters": "".join(prepared.vocabulary.characters),
        "opening": prepared.question_forms[0].before,
        "forms": WAYS,
        "cue": MOST_CHARACTERS,
        "models": {name: shown_model(model, trials[name], prepared, facts) for name, model in MODELS.items()},
        "people": people_asked_about(prepared, audit, pages),
    }
    page = render(content, charts(settings.model.compared))
    with new_folder(TARGET) as folder:
        write_text(folder / "index.html", page)


def render(content: Mapping[str, Any], figures: Mapping[str, Chart]) -> str:
    """Return the page of its data: what `main` collects of the models, and the figures."""
    encoded = json.dumps(content, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    scripts = [(HTML / f"{name}.js").read_text("utf-8") for name in SCRIPTS]
    models = content["models"]
    of_open = [variant["dev_accuracy"] for variant in metrics(OPEN)["variants"].values()]
    pages = environment([HTML], autoescape=True)
    pages.filters["percent"] = lambda value: f"{value:.0f}\N{NO-BREAK SPACE}%"
    return pages.get_template("index.html.jinja").render(
        **content,
        first=first_person(content["people"], models),
        commits=sorted({short(commit) for model in models.values() for commit in model["commits"]}),
        stored_after=stored_after,
        of_open=of_open,
        near=[accuracy for accuracy in of_open if accuracy > max(of_open) - NEAR],
        handout=metrics(HANDOUT),
        unaided=metrics(UNAIDED),
        memorised=published_shares(UNAIDED).loc[("pretrained", "memorised", "synthesizer"), "share"],
        study=STUDY,
        charts=figures,
        full=FULL,
        data=Markup(encoded.replace("<", "\\u003c")),  # ends no script element
        **style_and_script(HTML / "article.css", "\n".join(('"use strict";', *scripts))),
    )


def first_person(people: Sequence[Mapping[str, Any]], models: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the first dev person of whom the finding holds: whom the page is opened with.

    Raises UserError: there is none.
    """
    asked = [person for person in people if person["split"] == "dev"]
    for number, person in enumerate(asked):
        answered = {name for name, model in models.items() if model["answers"][number] == person["place"]}
        if person["name"] in models[LONGER]["completed"] and answered == {ALONE, ANSWERS}:
            return person
    raise UserError("no dev person shows the page's finding: look at the models' answers")


if __name__ == "__main__":
    main()
