"""Stage `evaluate`: answers to the dev and test questions, what is memorised, and how the trainings went."""

from pathlib import Path
from typing import Any

import pandas as pd
from tqdm import tqdm

from stages.corpus.prepared import Prepared, write_table
from stages.corpus.questions import prompt
from stages.experiment.experiment import Experiment
from stages.inference.generation import generate
from stages.model.gpt import GPT
from stages.probing.probe import probe
from stages.settings import Generation
from stages.system.digests import result_folder, results_in, verified
from stages.system.errors import StudyError, command
from stages.system.files import read_json, write_json, write_text


def predictions(model: GPT, prepared: Prepared, split: str, decoding: Generation) -> pd.DataFrame:
    """A row a question of the split: row, question, gold, predicted, correct, probability.

    Correct is an exact match, as CS224N's assignment scores: the same characters, nothing more.
    """
    prompts = [prompt(prepared.questions[split][row]) for row in range(len(prepared.questions[split]))]
    answers = generate(model, prompts, decoding.max_characters, decoding.beams)
    asked = prepared.of_split(split)
    predicted = pd.Series([prepared.vocabulary.decode(each.tokens) for each in answers], dtype=object)
    return pd.DataFrame(
        {
            "row": asked.row,
            "question": asked.question,
            "gold": asked.place,
            "predicted": predicted,
            "correct": (predicted == asked.place).astype(int) if split != "test" else "",
            "probability": [round(each.probability, 4) for each in answers],
        }
    )


def results(folder: Path) -> dict[str, dict[str, Any]]:
    """The facts of each training that `run` published in a folder, by name.

    Raises StudyError: there are none, or one is damaged.
    """
    paths = [path for path in results_in(folder, ".json") if path.stem != "provenance"]
    if not paths:
        raise StudyError(f"{folder} is missing; `dvc repro` makes it")
    return {path.stem: read_json(path) for path in paths}


@command
def main() -> None:
    """Evaluate a variant of a recipe."""
    experiment = Experiment.from_command_line(main.__doc__)
    decoding = experiment.question_recipe.generation
    prepared = Prepared.load(experiment.prepared_folder)
    finetuned, pretrained = experiment.weights_folder / "finetuned", experiment.weights_folder / "pretrained"
    tables = []
    for name, facts in tqdm(results(finetuned).items(), desc=f"evaluate {experiment.recipe_name} {experiment.variant}"):
        model = experiment.trained_model(prepared, finetuned / f"{name}.safetensors")
        for split in ("dev", "test"):
            table = predictions(model, prepared, split, decoding)
            of = {"variant": experiment.variant, "split": split, "seed": facts["seed"]}
            tables.append(table.assign(**of, init=facts["phase"].removeprefix("finetune_")))
    answered = pd.concat(tables)
    trainings = results(pretrained)
    curves = pd.concat(pd.read_csv(path) for each in (pretrained, finetuned) for path in results_in(each, ".csv"))
    seconds = sum(facts["seconds"] for facts in trainings.values())
    run = {
        "variant": experiment.variant,
        "parameters": next(iter(trainings.values()))["parameters"],
        "seeds": experiment.recipe.seeds,
        "pretrain_loss": round(sum(facts["loss"] for facts in trainings.values()) / len(trainings), 4),
        "documents_per_second": round(sum(facts["examples"] for facts in trainings.values()) / max(seconds, 1e-9), 1),
        "pretrain_seconds": {facts["seed"]: round(facts["seconds"], 1) for facts in trainings.values()},
        "provenance": read_json(verified(pretrained / "provenance.json")),
    }
    with result_folder(Path("data/evaluations") / experiment.recipe_name / experiment.variant) as folder:
        # the questions and gold places are the baseline's: fetched data stand nowhere in what a variant leaves behind
        columns = ["variant", "split", "row", "seed", "init", "predicted", "correct", "probability"]
        for name, table in {"predictions.tsv": answered[columns], **probe(experiment, prepared, answered)}.items():
            write_table(folder / name, table)
        write_text(folder / "curves.csv", curves.to_csv(index=False, lineterminator="\n"))
        write_json(folder / "run.json", run)


if __name__ == "__main__":
    main()
