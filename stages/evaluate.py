"""Stage `evaluate`: answers to the dev and test questions, and what is memorised, a job a variant and a seed."""

from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from stages.corpus.tables import CURVE_COLUMNS, PREDICTION_COLUMNS, read_table, write_table
from stages.jobs.executor import run_stage
from stages.jobs.job import INITS, WEIGHTS, Job
from stages.settings.params import PARAMS
from stages.system.errors import UserError, command
from stages.system.files import write_json, write_metrics
from stages.system.progress import begin_job, counted

if TYPE_CHECKING:  # a stage without missing jobs does not need what loads torch
    import pandas as pd

    from stages.corpus.prepared import Prepared
    from stages.experiment.experiment import Experiment


def carry_out(job: Job) -> None:
    """Evaluate a variant with a seed."""
    import pandas as pd

    from stages.asking.recall import probe
    from stages.corpus.prepared import Prepared
    from stages.experiment.experiment import Experiment

    experiment = Experiment.of(job.params, job.recipe_name, job.variant)
    prepared = Prepared.load(job.prepared)
    pretrained, finetuned = (needed.result_folder for needed in job.inputs)
    most = experiment.question_recipe.generation.max_characters
    longest = max(int(prepared.answers[split].lengths.max(initial=0)) for split in ("dev", "test"))
    if longest > most:  # stage data checks a user's own files, and may have run when it was more
        key = f"recipes.{job.recipe_name}.generation.max_characters"
        raise UserError(f"{PARAMS}: {key}: was {most}; allowed: at least {longest}, the length of the longest answer")
    begin_job(1)
    answered = predictions(experiment, prepared, finetuned, job.seed)
    weights = {
        "pretrained": pretrained / f"{WEIGHTS}.safetensors",
        "finetuned": finetuned / "pretrained.safetensors",
    }
    tables = {
        "predictions.tsv": answered[[*PREDICTION_COLUMNS]],
        **probe(experiment, prepared, answered, weights, job.seed),
    }
    for name, table in tables.items():
        write_table(job.folder / name, table)
    trainings = [pretrained / f"{WEIGHTS}.csv", *(finetuned / f"{init}.csv" for init in INITS)]
    curves = pd.concat(read_table(path, CURVE_COLUMNS) for path in trainings)
    write_table(job.folder / "curves.csv", curves)
    write_json(job.folder / "run.json", summary(job))
    dev = answered[answered.split == "dev"]
    right = {init: 100 * float(dev[dev.init == init].correct.mean()) for init in INITS}  # percent
    job.end([*tables, "curves.csv", "run.json"], dev=right)


def predictions(experiment: "Experiment", prepared: "Prepared", finetuned: Path, seed: int) -> "pd.DataFrame":
    """Return what each finetuned model answers to the dev and test questions: a row a model and question."""
    import pandas as pd

    from stages.asking.recall import answers

    tables = []
    asked = [(init, split) for init in INITS for split in ("dev", "test")]
    for init, split in counted(asked, f"evaluate {experiment.variant}, seed {seed}"):
        model = experiment.trained_model(prepared, finetuned / f"{init}.safetensors")
        table = answers(model, prepared, split, experiment.question_recipe)
        tables.append(table.assign(variant=experiment.variant, split=split, seed=seed, init=init))
    return pd.concat(tables)


def summary(job: Job) -> dict[str, Any]:
    """Return the figures of the pretraining, and where its weights come from."""
    pretrained, finetuned = job.inputs
    record = pretrained.record["trainings"][WEIGHTS]
    return {
        "parameters": record["parameters"],
        "pretrain_loss": round(record["loss"], 4),
        "documents_per_second": round(record["examples"] / max(record["seconds"], 1e-9), 1),
        "pretrain_seconds": {job.seed: round(record["seconds"], 1)},
        "provenance": [record | {"settings": finetuned.settings}],  # pretraining's are in it
    }


@command
def main() -> None:
    """Ask the selected variants of the selected recipe."""
    jobs = run_stage("evaluate", main.__doc__)
    by_variant: dict[str, list[dict[str, float]]] = {}
    for job in jobs:
        by_variant.setdefault(job.variant, []).append(job.record["dev"])
    means = [{init: fmean(dev[init] for dev in seeds) for init in INITS} for seeds in by_variant.values()]
    best = max(means, key=lambda mean: mean["pretrained"])
    write_metrics("evaluate", scratch=best["scratch"], dev=best["pretrained"])


if __name__ == "__main__":
    main()
