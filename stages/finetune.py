"""Stage `finetune`: the training questions, from scratch and from pretrained weights, a job a variant and a seed."""

from stages.jobs.executor import lowest_loss, run_stage
from stages.jobs.job import INITS, WEIGHTS, Job
from stages.system.errors import command
from stages.system.files import write_metrics
from stages.system.progress import begin_job


def carry_out(job: Job) -> None:
    """Finetune a variant with a seed, from both."""
    # imported here, as they load torch, which a stage without missing jobs does not need
    from stages.corpus.prepared import Prepared
    from stages.experiment.experiment import Experiment
    from stages.training.loop import train_to
    from stages.training.phases import finetuning

    experiment = Experiment.of(job.params, job.recipe_name, job.variant)
    prepared = Prepared.load(job.prepared)
    begin_job(len(INITS))
    (pretrained,) = job.inputs
    first = {"scratch": None, "pretrained": pretrained.result_folder / f"{WEIGHTS}.safetensors"}
    records = {}
    for init in INITS:
        weights = job.folder / f"{init}.safetensors"
        phase = finetuning(experiment, prepared, init)
        records[init] = train_to(weights, experiment, prepared, phase, job.seed, job.settings, first[init])
    files = [f"{init}.{suffix}" for init in INITS for suffix in ("safetensors", "csv")]
    job.end(files, vocabulary_sha256=prepared.vocabulary.sha256, trainings=records)


@command
def main() -> None:
    """Finetune the selected variants by the selected recipe."""
    jobs = run_stage("finetune", main.__doc__)
    write_metrics("finetune", loss=lowest_loss(jobs, "pretrained"))


if __name__ == "__main__":
    main()
