"""Stage `train` of the article: one of its models, trained and asked the dev questions: data/article/<model>/."""

from pathlib import Path

from stages.corpus.prepared import Prepared
from stages.experiment.experiment import Experiment
from stages.experiment.provenance import provenance
from stages.inference.answers import answers
from stages.settings import load
from stages.system.errors import Parser, command
from stages.system.files import new_folder, read_json, write_bytes, write_json
from stages.training.jobs import finetuning, pretraining, pretrainings
from stages.training.run import Run, Training

WEIGHTS = "weights.safetensors"


@command
def main() -> None:
    """Train a model of section `article`, and write its weights and what it answers."""
    parser = Parser(description=main.__doc__)
    settings = load()
    parser.add_argument("--model", required=True, choices=settings.article.models)
    name = parser.parse_args().model
    changed = settings.of_article(name)
    model = settings.article.models[name]
    experiment = Experiment.of(changed, settings.article.recipe, model.variant)
    prepared = Prepared.load(experiment.prepared_folder)

    made_with = experiment.settings("pretrain", "finetune")
    seed = settings.article.seed
    run = Run(
        "article", experiment, prepared, made_with | {"seed": seed, "init": model.init}, experiment.prepared_folder
    )
    first = None
    trainings = []
    if model.init == "pretrained":
        first = run.work / "pretrained.safetensors"
        trainings = pretrainings(experiment, prepared, pretraining(experiment, prepared), first, seed)
    run.complete([*trainings, Training("finetuned", seed, finetuning(experiment, prepared, model.init), first)])

    finetuned = run.work / "finetuned.safetensors"
    answered = answers(experiment.trained_model(prepared, finetuned), prepared, "dev", experiment.question_recipe)
    parts = [read_json(path.with_suffix(".json")) for path in (finetuned, first) if path]
    facts = {
        "accuracy": 100 * float(answered.correct.mean()),  # percent of the dev questions
        **provenance(made_with, experiment.backend, sum(part["seconds"] for part in parts)),
        "parameters": parts[0]["parameters"],
        "commits": sorted({part["commit"] for part in parts}),
    }
    with new_folder(Path("data/article") / name) as folder:
        write_bytes(folder / WEIGHTS, finetuned.read_bytes())
        write_json(folder / "facts.json", facts)


if __name__ == "__main__":
    main()
