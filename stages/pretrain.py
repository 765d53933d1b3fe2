"""Stage `pretrain`: the recipe's objectives on the corpus, a job a variant and a seed."""

from stages.jobs.job import WEIGHTS, Job
from stages.jobs.stage import lowest_loss, run
from stages.system.errors import command
from stages.system.files import write_metrics
from stages.system.progress import begin_job


def carry_out(job: Job) -> None:
    """Pretrain a variant with a seed."""
    # imported here, as they load torch, which a stage without missing jobs does not need
    from stages.corpus.prepared import Prepared
    from stages.experiment.experiment import Experiment
    from stages.training.phases import pretrain

    experiment = Experiment.of(job.params, job.recipe, job.variant)
    prepared = Prepared.load(job.prepared)
    begin_job(2 if experiment.recipe.pretrain.self_training_epochs else 1)
    weights = job.folder / f"{WEIGHTS}.safetensors"
    record = pretrain(weights, experiment, prepared, job.seed, job.settings)
    files = [weights.name, f"{WEIGHTS}.csv"]
    job.end(files, vocabulary_sha256=prepared.vocabulary.sha256, trainings={WEIGHTS: record})


@command
def main() -> None:
    """Pretrain the selected variants by the selected recipe."""
    jobs = run("pretrain", main.__doc__)
    write_metrics("pretrain", loss=lowest_loss(jobs, WEIGHTS))


if __name__ == "__main__":
    main()
