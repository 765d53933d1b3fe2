"""What the accuracy from scratch is of: the training it had, in a sentence."""

import pandas as pd

from stages.reporting.curves import endings
from stages.reporting.markdown import Markdown, escape

PHASE = "finetune_scratch"


def scratch_sentence(curves: pd.DataFrame) -> Markdown:
    """Return for how many epochs the models without pretraining were trained, and with what loss they ended.

    Empty text where the `curves` of the variants do not tell it.
    """
    mean = ", mean over seeds," if curves["seed"].nunique() > 1 else ""
    ended = endings(curves, PHASE).sort_values("loss", kind="stable")
    if ended.empty or not ended["loss"].notna().all():
        return Markdown("")
    fewest, most = ended["epochs"].min(), ended["epochs"].max()
    epochs = f"{most:g}" if fewest == most else f"{fewest:g} to {most:g}"
    losses = [f"{loss:.3f}" for loss in ended["loss"]]
    said = f"is {losses[0]}"
    if len(ended) > 1:
        names = [escape(name) for name in ended.index]
        said = f"goes from {losses[0]} ({names[0]}) to {losses[-1]} ({names[-1]})"
    return Markdown(
        f"From scratch is {epochs} epochs of finetuning on the training questions, without pretraining; the loss of "
        f"the last epoch{mean} {said} nats a character of the answers."
    )
