"""Stage `evaluate`: answers to the dev and test questions, what is memorised, and how the trainings went."""

from itertools import product
from pathlib import Path

import pandas as pd
from tqdm import tqdm

from stages.corpus.prepared import Prepared, write_table
from stages.experiment.experiment import Experiment
from stages.inference.answers import answers
from stages.probing.probe import probe
from stages.system.digests import result_folder
from stages.system.errors import command
from stages.system.files import read_json, write_json, write_text
from stages.system.records import CURVES, FACTS, read_record, read_table


@command
def main() -> None:
    """Evaluate a variant of a recipe."""
    experiment = Experiment.from_command_line(main.__doc__)
    recipe = experiment.question_recipe
    prepared = Prepared.load(experiment.prepared_folder)
    finetuned, pretrained = experiment.weights_folder / "finetuned", experiment.weights_folder / "pretrained"
    experiment.check_weights(pretrained, prepared.vocabulary, "optimizer", "pretrain")
    experiment.check_weights(finetuned, prepared.vocabulary, "optimizer", "pretrain", "finetune")
    seeds = sorted(experiment.recipe.seeds, key=str)  # as the names of their files
    trained, tables = [*product(("pretrained", "scratch"), seeds)], []
    for init, seed in tqdm(trained, desc=f"evaluate {experiment.recipe_name} {experiment.variant}"):
        model = experiment.trained_model(prepared, finetuned / f"{init}-seed-{seed}.safetensors")
        for split in ("dev", "test"):
            table = answers(model, prepared, split, recipe)
            tables.append(table.assign(variant=experiment.variant, split=split, seed=seed, init=init))
    answered = pd.concat(tables)
    trainings = [read_record(pretrained / f"seed-{seed}.json", FACTS) for seed in seeds]
    paths = [pretrained / f"seed-{seed}.csv" for seed in seeds]
    paths += [finetuned / f"{init}-seed-{seed}.csv" for init, seed in trained]
    curves = pd.concat(read_table(path, CURVES, ",", figures_as_text=True) for path in paths)
    seconds = sum(facts["seconds"] for facts in trainings)
    made = read_json(pretrained / "provenance.json")  # of the process that published them; checked above, as the next
    made["settings"] = read_json(finetuned / "provenance.json")["settings"]  # finetuning's, too
    run = {
        "parameters": trainings[0]["parameters"],
        "pretrain_loss": round(sum(facts["loss"] for facts in trainings) / len(trainings), 4),
        "documents_per_second": round(sum(facts["examples"] for facts in trainings) / max(seconds, 1e-9), 1),
        "pretrain_seconds": {seed: round(facts["seconds"], 1) for seed, facts in zip(seeds, trainings, strict=True)},
        "provenance": [made | {key: facts[key] for key in ("commit", "device", "seconds")} for facts in trainings],
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
