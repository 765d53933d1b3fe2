"""The article's models with the weights that the page holds: what they say in torch, which the page must say again."""

from pathlib import Path
from typing import Any

import numpy as np

from stages.article.stored import restored, stored
from stages.corpus.prepared import AUDIT, Prepared
from stages.corpus.question_forms import question_forms
from stages.experiment.experiment import Experiment
from stages.probing.decodings import answers
from stages.probing.extraction import exact_matches
from stages.probing.forms import CHARACTERS, Fact, Prompt, dev_facts
from stages.settings import Settings
from stages.sources.audit import own_pages
from stages.system.digests import as_written
from stages.system.records import Amount, read_record, read_table, record

TRAINED = Path("data/article")  # <model>/: weights.safetensors and facts.json
FACTS = record(accuracy=Amount, parameters=int, seconds=Amount, device=str, commits=list[str], predicted=list[str])

# Ways to ask for a place. {page}: the page up to the place; {cue}: the last of it. A number of characters, those that a
# question has before the name, may come before the text: `shift` is how many do where nobody moves the name.
FORMS: dict[str, dict[str, Any]] = {
    "page": {"title": "the page’s own words", "sample": "NAME. … was born in", "text": "{page}", "shift": 0},
    "cloze": {"title": "cloze", "sample": "NAME s born in ⁇", "text": "{name} {cue}⁇", "shift": 0},
    "name_first": {
        "title": "name first",
        "sample": "NAME was born where?",
        "text": "{name} was born where?⁇",
        "shift": 0,
    },
    "question": {"title": "question", "sample": "Where was NAME born?", "text": "{name} born?⁇", "shift": 10},
}


def people(prepared: Prepared, data: Path) -> list[dict[str, Any]]:
    """Whom training and dev questions ask about: name, page, place, where the place stands in the page, split."""
    with as_written(known := data / "audit.tsv"):
        found = read_table(known, AUDIT).set_index(["split", "row"])
    table = prepared.table[prepared.table.split.isin(["dev", "train"])]
    pages = own_pages(prepared.texts, {*table.name})
    return [
        {
            "name": name,
            "page": pages.get(name, [""])[0],
            "place": place,
            "position": int(found.loc[[(split, row)]].position.iloc[0]),
            "split": split,
        }
        for split, row, name, place in zip(table.split, table.row, table.name, table.place, strict=True)
    ]


def prompts(prepared: Prepared, facts: list[Fact]) -> dict[str, list[Prompt]]:
    """Each fact in each of FORMS."""
    opening = question_forms(prepared)[0].before
    found: dict[str, list[Prompt]] = {}
    for form, how in FORMS.items():
        close = "⁇" if how["text"].endswith("⁇") else ""
        found[form] = []
        for fact in facts:
            page = fact.page[: fact.position]
            cue = page[max(len(fact.name) + 2, len(page) - CHARACTERS) :]
            text = opening[len(opening) - how["shift"] :] + how["text"].format(name=fact.name, page=page, cue=cue)
            found[form].append(Prompt(text, fact.place + close))
    return found


def shown(name: str, settings: Settings, prepared: Prepared, data: Path) -> dict[str, Any]:
    """A model as the page holds it: stored weights, and what torch says with these."""
    article, model = settings.article, settings.article.models[name]
    experiment = Experiment.of(settings.of_article(name), article.recipe, model.variant)
    facts = read_record(TRAINED / name / "facts.json", FACTS)
    gpt = experiment.trained_model(prepared, TRAINED / name / "weights.safetensors")
    tensors = stored(gpt.state_dict())
    gpt.load_state_dict(restored(tensors))
    gpt.eval()
    recipe = experiment.question_recipe
    said = answers(gpt, prepared, "dev", recipe.generation.max_characters, recipe.generation.beams)
    with as_written(known := data / "audit.tsv"):
        audit = read_table(known, AUDIT)
    told = dev_facts(prepared, audit, own_pages(prepared.texts, {*prepared.of_split("dev").name}))
    matches = {form: exact_matches(gpt, prepared.vocabulary, asked) for form, asked in prompts(prepared, told).items()}
    return {
        "title": model.title,
        "about": model.about,
        "variant": model.variant,
        "shape": recipe.model.model_dump(include={"layers", "heads", "width", "context"}),
        "theta": getattr(experiment.mixer, "theta", None),
        "parameters": facts["parameters"],
        "trained_accuracy": facts["accuracy"],
        "accuracy": 100 * float(said.correct.mean()),
        "answers": said.predicted.tolist(),
        "people": len(told),
        "right": {form: 100 * float(np.mean(found)) for form, found in matches.items()},
        "completed": [fact.name for fact, right in zip(told, matches["page"], strict=True) if right],
        "commits": facts["commits"],
        "device": facts["device"],
        "tensors": tensors,
    }
