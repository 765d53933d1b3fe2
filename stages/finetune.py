"""Stage `finetune`: the training questions, from scratch and from pretrained weights, per seed."""

from functools import partial
from pathlib import Path

from stages.corpus.prepared import Prepared
from stages.experiment.experiment import Experiment
from stages.system.errors import command
from stages.training.jobs import finetuning
from stages.training.run import Training, run


@command
def main() -> None:
    """Finetune a variant by a recipe."""
    experiment = Experiment.from_command_line(main.__doc__, trains=True)
    prepared = Prepared.load(experiment.prepared_folder)
    pretrained = experiment.weights_folder / "pretrained"
    experiment.check_weights(pretrained, prepared.vocabulary, "optimizer", "pretrain")
    jobs = {init: finetuning(experiment, prepared, init) for init in ("scratch", "pretrained")}

    def trainings(_: Path, seed: int) -> dict[str, Training]:
        weights = pretrained / f"seed-{seed}.safetensors"
        first_weights = {
            "scratch": partial(experiment.new_model, prepared, seed),
            "pretrained": partial(experiment.trained_model, prepared, weights),
        }
        return {f"{init}-seed-{seed}": Training(jobs[init], model) for init, model in first_weights.items()}

    output = experiment.weights_folder / "finetuned"
    settings = experiment.settings("finetune", "pretrain")
    run("finetune", experiment, settings, output, experiment.prepared_folder, pretrained, trainings=trainings)


if __name__ == "__main__":
    main()
