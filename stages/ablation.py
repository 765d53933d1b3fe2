"""Stage `ablation`: what each change of section `ablation` does, as a page: reports/<recipe>/ablation/."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from tqdm import tqdm

from stages.ablate import HELD_OUT, WEIGHTS, ablated
from stages.corpus.prepared import AUDIT, Prepared
from stages.probing.decodings import answers
from stages.probing.extraction import extraction
from stages.probing.forms import PAGE_FORMS, Fact, Prompt, WordCue, dev_facts, page_prompts
from stages.reporting.ablation import Ablated, write_ablation
from stages.settings import FULL, Settings, load
from stages.sources.audit import own_pages
from stages.system.digests import as_written
from stages.system.errors import Parser, command
from stages.system.records import FACTS, ORIGIN, read_record, read_table, record


@command
def main() -> None:
    """Ask the weights of every change, and write the page."""
    Parser(description=main.__doc__).parse_args()
    settings = load()
    name = settings.ablation.recipe
    folder = HELD_OUT / name
    prepared = Prepared.load(folder)
    documents = prepared.texts
    pages = own_pages(documents, set(prepared.of_split("dev").name))
    with as_written(known := folder / "audit.tsv"):
        facts = dev_facts(prepared, read_table(known, AUDIT), pages)
    full = ablated(settings, FULL).recipe
    word_cue = WordCue.of(full.pretrain.objectives, documents, prepared.training_answers)
    prompts = page_prompts(facts, PAGE_FORMS, full.pretrain.objectives, word_cue, full.model.context)
    found = [
        asked(settings, change, prepared, facts, prompts) for change in tqdm(settings.ablation.changes, desc="ablation")
    ]
    write_ablation(Path("reports") / name / "ablation", settings.ablation, found)


def asked(
    settings: Settings, change: str, prepared: Prepared, facts: Sequence[Fact], prompts: Mapping[str, Sequence[Prompt]]
) -> Ablated:
    """What a change's weights answer and know; dev are the held-out questions, facts those that a page tells.

    prompts: the facts in each page form, the same for all changes. Raises StudyError: they are missing, or were trained
    with other settings.
    """
    experiment = ablated(settings, change)
    recipe, folder = experiment.question_recipe, WEIGHTS / settings.ablation.recipe / change
    models = {
        weights: experiment.trained_model(prepared, folder / f"{weights}.safetensors")
        for weights in ("pretrained", "finetuned")
    }
    max_characters, beams = recipe.generation.max_characters, recipe.generation.beams
    answered = answers(models["finetuned"], prepared, "dev", max_characters, beams)
    right = answered.set_index("row").correct.loc[[fact.row for fact in facts]].to_numpy(int)
    known = extraction(models, prepared.vocabulary, facts, prompts, right)
    training = read_record(folder / "pretrained.json", FACTS)
    return Ablated(
        change=change,
        correct=answered.correct.to_numpy(int)[:, None],
        memorised=known.pretrained_memorised == 1,
        extracted=known.finetuned_extracted == 1,
        epochs=recipe.pretrain.epochs,
        pretrain_loss=training["loss"],
        seconds=training["seconds"],
        provenance=read_record(folder / "provenance.json", record(**ORIGIN)),
    )


if __name__ == "__main__":
    main()
