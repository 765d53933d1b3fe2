"""Stage `pretrain`: the recipe's objectives on the corpus, a job a variant and a seed."""

from stages.jobs.executor import lowest_loss, run_stage
from stages.jobs.job import WEIGHTS, Job
from stages.system.errors import command
from stages.system.files import write_metrics
from stages.system.progress import begin_job


def carry_out(job: Job) -> None:
    """Pretrain a variant with a seed."""
    # imported here, as they load torch, which a stage without missing jobs does not need
    from stages.corpus.prepared import Prepared
    from stages.experiment.experiment import Experiment
    from stages.training.loop import train_to
    from stages.training.phases import pretraining, self_training

    experiment = Experiment.of(job.params, job.recipe_name, job.variant)
    prepared = Prepared.load(job.prepared)
    weights, phase = job.folder / f"{WEIGHTS}.safetensors", pretraining(experiment, prepared)
    before = None
    passes = experiment.recipe.pretrain.self_training_epochs
    begin_job(2 if passes else 1)
    if passes:
        before = weights.with_stem(f"{WEIGHTS}-before")
        first, phase = phase, self_training(phase, passes, experiment, prepared, before)  # refused before any training
        train_to(before, experiment, prepared, first, job.seed, job.settings)
    record = train_to(weights, experiment, prepared, phase, job.seed, job.settings, before)
    files = [weights.name, f"{WEIGHTS}.csv"]
    job.end(files, vocabulary_sha256=prepared.vocabulary.sha256, trainings={WEIGHTS: record})


@command
def main() -> None:
    """Pretrain the selected variants by the selected recipe."""
    jobs = run_stage("pretrain", main.__doc__)
    write_metrics("pretrain", loss=lowest_loss(jobs, WEIGHTS))


if __name__ == "__main__":
    main()
