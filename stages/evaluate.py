"""Stage `evaluate`: answers to the dev and test questions, what is memorised, and figures of the trainings."""

from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
from tqdm import tqdm

from stages.corpus.prepared import Prepared, write_table
from stages.experiment.cell import Cell
from stages.experiment.experiment import Experiment
from stages.inference.answers import answers
from stages.probing.probe import probe
from stages.settings import QuestionRecipe
from stages.system.errors import command
from stages.system.files import new_folder, read_json, write_json, write_text
from stages.system.tables import CURVES, read_table

INITS = ("pretrained", "scratch")  # the weights that finetuning began with
# Questions and gold places are in the baseline's table alone: a variant's evaluation has no fetched data
COLUMNS = ["variant", "split", "row", "seed", "init", "predicted", "correct", "probability"]


@command
def main() -> None:
    """Evaluate a variant of a recipe."""
    cell = Cell.from_command_line(main.__doc__)
    experiment = Experiment.of(cell.params, cell.recipe_name, cell.variant)
    recipe = experiment.question_recipe
    prepared = Prepared.load(experiment.prepared_folder)
    pretrained = cell.weights_folder / "pretrained"
    finetuned = cell.weights_folder / "finetuned"
    experiment.check_weights(pretrained, prepared.vocabulary, "optimizer", "pretrain")
    experiment.check_weights(finetuned, prepared.vocabulary, "optimizer", "pretrain", "finetune")
    seeds = sorted(cell.seeds, key=str)  # as the names of their files

    answers_of_all = predictions(experiment, recipe, prepared, finetuned, seeds)
    tables = {"predictions.tsv": answers_of_all[COLUMNS], **probe(experiment, prepared, answers_of_all)}
    curves = learning_curves(pretrained, finetuned, seeds)
    run = summary_of_trainings(pretrained, finetuned, seeds)

    with new_folder(Path("data/evaluations") / cell.recipe_name / cell.variant) as folder:
        for name, table in tables.items():
            write_table(folder / name, table)
        write_text(folder / "curves.csv", curves.to_csv(index=False, lineterminator="\n"))
        write_json(folder / "run.json", run)
        # DVC's stages `compare` and `collect` copy it
        digests = [f"{sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(folder.iterdir())]
        write_text(folder / "SHA256SUMS", "".join(digests))


def predictions(
    experiment: Experiment, recipe: QuestionRecipe, prepared: Prepared, finetuned: Path, seeds: list[int]
) -> pd.DataFrame:
    """Return what each finetuned model answers to the dev and test questions: a row a model and question."""
    tables = []
    for init, seed in tqdm([*product(INITS, seeds)], desc=f"evaluate {experiment.recipe_name} {experiment.variant}"):
        model = experiment.trained_model(prepared, finetuned / f"{init}-seed-{seed}.safetensors")
        for split in ("dev", "test"):
            table = answers(model, prepared, split, recipe)
            tables.append(table.assign(variant=experiment.variant, split=split, seed=seed, init=init))
    return pd.concat(tables)


def learning_curves(pretrained: Path, finetuned: Path, seeds: list[int]) -> pd.DataFrame:
    """Return the curves of all trainings, one after the other."""
    paths = [pretrained / f"seed-{seed}.csv" for seed in seeds]
    paths += [finetuned / f"{init}-seed-{seed}.csv" for init, seed in product(INITS, seeds)]
    return pd.concat(read_table(path, CURVES) for path in paths)


def summary_of_trainings(pretrained: Path, finetuned: Path, seeds: list[int]) -> dict[str, Any]:
    """Return the figures of the pretrainings, and where their weights come from."""
    trainings = [read_json(pretrained / f"seed-{seed}.json") for seed in seeds]
    seconds = sum(facts["seconds"] for facts in trainings)
    provenance = read_json(pretrained / "provenance.json")
    provenance["settings"] = read_json(finetuned / "provenance.json")["settings"]  # finetuning's, too
    return {
        "parameters": trainings[0]["parameters"],
        "pretrain_loss": round(sum(facts["loss"] for facts in trainings) / len(trainings), 4),
        "documents_per_second": round(sum(facts["examples"] for facts in trainings) / max(seconds, 1e-9), 1),
        "pretrain_seconds": {seed: round(facts["seconds"], 1) for seed, facts in zip(seeds, trainings, strict=True)},
        "provenance": [
            provenance | {"commit": facts["commit"], "device": facts["device"], "seconds": facts["seconds"]}
            for facts in trainings
        ],
    }


if __name__ == "__main__":
    main()
