"""The report's sections on answers that are made up, and on people who are in no page."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from stages.reporting.evaluations import broken
from stages.reporting.markdown import Markdown, escape, table
from stages.reporting.sections.probes import Probe, best_asked, read_probes
from stages.reporting.template import Part, fill

TEMPLATE = "inventions.md.jinja"
ORIGINS = ("train", "corpus", "nowhere", "nothing")
WAYS = {"scratch": "from scratch", "pretrained": "pretrained"}
SPLITS = {"dev": "wrong dev", "test": "all test"}
SURE = 0.05  # a p-value below it counts as a difference
TIED = 3  # answers that are the most frequent ones together, at most


def inventions_part(folder: Path, variants: Sequence[str]) -> Part | None:
    """The sections made from `<folder>/<variant>/` of those of `variants` that were probed; None where none was.

    The places they name are answers about invented people, or strings that are nowhere in the corpus. Raises
    StudyError where a probe is broken.
    """
    probes = read_probes(folder, variants)
    if not probes:
        return None
    shown = best_asked(probes)
    asked = [probe for probe in probes if probe.people]
    about = best_asked(asked) if asked else None
    try:
        return Part(
            fill(
                TEMPLATE,
                shown=shown,
                origins_findings=origins_findings(shown, probes),
                origins_table=origins_table(probes),
                about=about,
                people_findings=people_findings(about) if about else "",
                people_table=people_table(asked),
                answers_table=answers_table(about) if about else "",
                cultures_table=cultures_table(about) if about else "",
                tied=TIED,
            )
        )
    except (IndexError, KeyError, TypeError) as error:
        raise broken(folder / shown.variant / "probe.json", error) from None


def origins_table(probes: Sequence[Probe]) -> Markdown:
    """Where wrong dev answers and test answers can come from, in percent."""
    header = (
        "variant", "weights", "answers", "number", "training place, %", "elsewhere in the corpus, %", "nowhere, %",
        "empty, %",
    )  # fmt: skip
    rows = [
        (
            probe.variant,
            WAYS[counts["init"]],
            SPLITS[counts["split"]],
            f"{counts['answers']:,}",
            *(_percent(counts[origin], counts["answers"]) for origin in ORIGINS),
        )
        for probe in probes
        for counts in probe.origins
    ]
    return table(header, rows, right=header[3:])


def origins_findings(probe: Probe, probes: Sequence[Probe]) -> Markdown:
    """What the wrong dev answers of a variant are, with and without pretraining, and examples of made-up ones.

    The examples are its own or, where it has none, those of the one of `probes` that makes up most.
    """
    return Markdown(" ".join(filter(None, (_origins_sentences(probe), _examples(probe, probes)))))


def _origins_sentences(probe: Probe) -> str:
    by_way = {counts["init"]: counts for counts in probe.origins if counts["split"] == "dev"}
    wrong = by_way["pretrained"]
    if not wrong["answers"]:
        return f"No dev answer of **{escape(probe.variant)}**, pretrained, is wrong."
    shares = {origin: _percent(wrong[origin], wrong["answers"]) for origin in ORIGINS}
    empty = f"; {shares['nothing']} % are empty" if wrong["nothing"] else ""
    alone = by_way["scratch"]
    return (
        f"Of the {wrong['answers']:,} wrong dev answers of **{escape(probe.variant)}**, pretrained, "
        f"{shares['train']} % are places of the training questions, {shares['corpus']} % other strings of the "
        f"corpus, and {shares['nowhere']} % stand nowhere in it{empty}. "
        f"From scratch {_percent(alone['nowhere'], alone['answers'])} % of {alone['answers']:,} stand nowhere in it."
    )


def _examples(probe: Probe, probes: Sequence[Probe]) -> str:
    """Made-up answers of `probe` or, where it has none to show, of the one of `probes` that makes up most."""
    if probe.made_up:
        return f"Made up by the pretrained model, on dev and test, are for instance: {_joined(probe.made_up)}."
    others = [each for each in probes if each.made_up]
    if not others:
        return ""
    most = min(others, key=lambda each: (-_nowhere(each), each.variant))
    return (
        f"Of **{escape(most.variant)}**, pretrained, {100 * _nowhere(most):.1f} % of the wrong dev and all test "
        f"answers stand nowhere, for instance: {_joined(most.made_up)}."
    )


def _nowhere(probe: Probe) -> float:
    """The share of the pretrained model's wrong dev and all test answers that stand nowhere."""
    counted = [counts for counts in probe.origins if counts["init"] == "pretrained"]
    return sum(counts["nowhere"] for counts in counted) / max(1, sum(counts["answers"] for counts in counted))


def _joined(answers: Sequence[str]) -> str:
    return ", ".join(map(escape, answers))


def people_table(probes: Sequence[Probe]) -> Markdown:
    """Distances, association with the name's culture and confidence of each variant, means over seeds."""
    header = (
        "variant", "names", "from training places (by chance)", "from answers about real people (by chance)",
        "Cramér's V of culture (by chance)", "mean probability, %", "of real people, %", "real one surer, %",
    )  # fmt: skip
    rows = []
    for probe in probes:
        found = _means(probe)
        rows.append(
            (
                probe.variant,
                found["names"],
                f"{found['train_distance']:.2f} ({found['train_by_chance']:.2f})",
                f"{found['real_distance']:.2f} ({found['real_by_chance']:.2f})",
                f"{found['culture_cramers_v']:.2f} ({found['culture_by_chance']:.2f})",
                f"{100 * found['invented']:.1f}",
                f"{100 * found['real']:.1f}",
                f"{100 * found['surer']:.1f}",
            )
        )
    return table(header, rows, right=header[1:])


def answers_table(probe: Probe) -> Markdown:
    """The most frequent answers about invented people beside their shares elsewhere."""
    header = ("answer", "of invented people, %", "of real people, %", "of training answers, %")
    shares = ("invented", "real", "train")
    assert probe.people is not None
    rows = [
        (row["answer"] or Markdown("*nothing*"), *(f"{100 * row[name]:.1f}" for name in shares))
        for row in probe.people["answers"]
    ]
    return table(header, rows, right=header[1:])


def cultures_table(probe: Probe) -> Markdown:
    """The most frequent answer for each naming culture, all seeds together, if there is one."""
    header = ("culture of the name", "names", "most frequent answer", "given", "mean probability, %")
    rows = []
    for culture, said in probe.said.groupby("culture", sort=True):
        chance = f"{100 * said.probability.mean():.1f}"
        rows.append((culture, said["name"].nunique(), *_most_frequent(said), chance))
    return table(header, rows, right=("names", *header[3:]))


def _most_frequent(said: pd.DataFrame) -> tuple[str, str]:
    """The most frequent answer in rows of invented.tsv, or up to TIED that are level, and how often it was given.

    Dashes where more are level, or one was given for a single name: that is typical of no group of names, also where
    all seeds agree on it.
    """
    answers = said.answer
    counts = answers.value_counts()
    most = int(counts.max())
    first = sorted(counts[counts == most].index)
    if len(first) > TIED or any(said["name"][answers == answer].nunique() == 1 for answer in first):
        return "–", "–"
    each = " each" if len(first) > 1 else ""
    names = ", ".join(escape(answer) if answer else "*nothing*" for answer in first)
    return Markdown(names), f"{most:,} of {len(answers):,}{each}"


def people_findings(probe: Probe) -> Markdown:
    """What a variant answers about people it cannot know, in sentences made from the figures."""
    assert probe.people is not None
    found, first = _means(probe), probe.people["answers"][0]
    what = escape(first["answer"]) if first["answer"] else "nothing"
    sentences = [
        f"Asked about {found['names']:,} invented people, **{escape(probe.variant)}** answers most often {what} "
        f"({100 * first['invented']:.1f} %; {100 * first['train']:.1f} % of the training answers).",
        _distance_sentence(found),
        _culture_sentence(found),
        f"Its answers have a mean probability of {100 * found['invented']:.1f} %, those about the real people of dev "
        f"{100 * found['real']:.1f} %; of a real and an invented person it is surer of the real one in "
        f"{100 * found['surer']:.1f} % of the pairs{'' if found['surer'] > 0.5 else ', no more often than by chance'}.",
    ]
    return Markdown(" ".join(sentences))


def _distance_sentence(found: dict[str, Any]) -> str:
    told = []
    for name, what in (("train", "the training places"), ("real", "the answers about real people of dev")):
        verdict = "differ" if found[f"{name}_p"] < SURE else "do not differ beyond chance"
        told.append(
            f"{verdict} from {what} (total variation distance {found[f'{name}_distance']:.2f}, by chance "
            f"{found[f'{name}_by_chance']:.2f}, p = {found[f'{name}_p']:.3f})"
        )
    return f"As a distribution, the answers {told[0]} and {told[1]}."


def _culture_sentence(found: dict[str, Any]) -> str:
    figures = (
        f"Cramér's V {found['culture_cramers_v']:.2f}, by chance {found['culture_by_chance']:.2f}, "
        f"p = {found['culture_p']:.3f}"
    )
    if found["culture_p"] < SURE:
        return f"They depend on the culture that the name is of ({figures})."
    return f"That they depend on the culture of the name is not seen ({figures})."


def _means(probe: Probe) -> dict[str, Any]:
    """The comparisons' figures, means over seeds; a p-value is the largest of them."""
    assert probe.people is not None
    rows = [
        {
            "names": each["names"],
            **{
                f"{name}_{key}": each[name][key] for name in ("train", "real") for key in ("distance", "by_chance", "p")
            },
            **{f"culture_{key}": each["culture"][key] for key in ("cramers_v", "by_chance", "p")},
            **each["confidence"],
        }
        for each in probe.people["trainings"]
    ]
    table_ = pd.DataFrame(rows)
    means = {name: float(np.mean(table_[name])) for name in table_.columns}
    return (
        means | {name: float(table_[name].max()) for name in means if name.endswith("_p")} | {"names": rows[0]["names"]}
    )


def _percent(part: int, whole: int) -> str:
    """part of whole in percent; a dash for a part of nothing."""
    return f"{100 * part / whole:.1f}" if whole else "–"
