"""Stage `evaluate`: answers to the dev and test questions, what is memorised, and how the trainings went."""

import pandas as pd
from tqdm import tqdm

from stages.corpus.prepared import Prepared, write_table
from stages.corpus.questions import prompt
from stages.experiment.experiment import Experiment
from stages.experiment.results import results
from stages.inference.generation import answer
from stages.inference.scoring import is_correct
from stages.model.gpt import GPT
from stages.probing.probe import probe
from stages.settings import Generation
from stages.system.digests import result_folder, results_in, verified
from stages.system.errors import command
from stages.system.files import read_json, write_json, write_text


def predictions(model: GPT, prepared: Prepared, split: str, decoding: Generation) -> pd.DataFrame:
    """A row a question of the split: row, question, gold, predicted, correct, probability."""
    prompts = [prompt(prepared.questions[split][row]) for row in range(len(prepared.questions[split]))]
    answers = answer(model, prompts, decoding)
    asked = prepared.of_split(split)
    predicted = [prepared.vocabulary.decode(each.tokens) for each in answers]
    scored = split != "test"
    return pd.DataFrame(
        {
            "row": asked.row,
            "question": asked.question,
            "gold": asked.place,
            "predicted": predicted,
            "correct": [int(is_correct(*pair)) if scored else "" for pair in zip(predicted, asked.place, strict=True)],
            "probability": [round(each.probability, 4) for each in answers],
        }
    )


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
    columns = ["variant", "split", "row", "seed", "init", "question", "gold", "predicted", "correct", "probability"]
    answered = pd.concat(tables)[columns]
    trainings = results(pretrained)
    curves = pd.concat(pd.read_csv(path) for each in (pretrained, finetuned) for path in results_in(each, ".csv"))
    seconds = sum(facts["seconds"] for facts in trainings.values())
    run = {
        "variant": experiment.variant,
        "parameters": next(iter(trainings.values()))["parameters"],
        "seeds": experiment.recipe.seeds,
        "pretrain_loss": round(sum(facts["loss"] for facts in trainings.values()) / len(trainings), 4),
        "documents_per_second": round(sum(facts["examples"] for facts in trainings.values()) / max(seconds, 1e-9), 1),
        "pretrain_seconds": round(seconds, 1),
        "provenance": read_json(verified(pretrained / "provenance.json")),
    }
    with result_folder(experiment.evaluation_folder) as folder:
        for name, table in {"predictions.tsv": answered, **probe(experiment, prepared, answered)}.items():
            write_table(folder / name, table)
        write_text(folder / "curves.csv", curves.to_csv(index=False, lineterminator="\n"))
        write_json(folder / "run.json", run)


if __name__ == "__main__":
    main()
