"""How often a page's likeliest phrase is the answer to a held-out question, by the models before self-training.

python -m stages.trials.label_quality SEED ...
"""

import sys
from collections.abc import Callable, Sequence

import numpy as np

from stages.corpus.phrases import as_probabilities
from stages.corpus.prepared import Prepared
from stages.experiment.experiment import Experiment
from stages.settings import load
from stages.trials.cells import job_of
from stages.trials.study.plan import Plan
from stages.training import phases

CONTRASTS = (0, 0.25, 0.5, 1.0)


def main(seeds: Sequence[int]) -> None:
    """Print the shares for each seed and contrast, and for the vote of all seeds."""
    plan = Plan("unaided_labels", load())
    cells = {cell.seed: cell for cell in plan.cells if cell.change == "recipe"}
    own, mean = {}, {}
    for seed in seeds:
        job = job_of(plan, cells[seed])
        prepared = Prepared.load(job.prepared)
        experiment = Experiment.of(job.params, job.recipe, job.variant)
        model = experiment.trained_model(prepared, job.inputs[0].folder / f"weights-before-{seed}.safetensors")
        titles = [prepared.title(row) for row in range(len(prepared.documents))]
        shifts = np.random.default_rng(phases.OTHER_NAMES).choice(len(titles) - 1, phases.OTHER_NAMES) + 1
        others = [np.roll(titles, shift).tolist() for shift in shifts]
        context = experiment.recipe.model.context
        own[seed] = phases.phrase_scores(model, prepared, context, titles)
        mean[seed] = np.mean([phases.phrase_scores(model, prepared, context, other) for other in others], axis=0)

    phrases, rows, dev = prepared.capitalised, prepared.rows_by_title, prepared.of_split("dev")
    offsets = phrases.spans.offsets

    def share(labels: Callable[[int], np.ndarray]) -> str:
        right = []
        for name, place in zip(dev.name, dev.place, strict=True):
            if name in rows:
                text = prepared.text(rows[name])
                texts = [text[start:end] for start, end in phrases.spans[rows[name]].tolist()]
                if place in texts:
                    right.append(texts[int(np.argmax(labels(rows[name])))] == place)
        return f"{sum(right)} of {len(right)}"

    def of_seed(seed: int, contrast: float) -> Callable[[int], np.ndarray]:
        scores = own[seed] - contrast * mean[seed]
        return lambda row: np.array(as_probabilities(scores[offsets[row] : offsets[row + 1]]))

    for seed in seeds:
        print(seed, {contrast: share(of_seed(seed, contrast)) for contrast in CONTRASTS})
    print("vote", share(lambda row: np.mean([of_seed(seed, 0)(row) for seed in seeds], axis=0)))


if __name__ == "__main__":
    main([*map(int, sys.argv[1:])])
