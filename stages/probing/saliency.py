"""Which characters of a question an answer hangs on: gradients, and attention weights where there are any."""

from typing import Any

import torch
from torch import Tensor

from stages.corpus.questions import prompt
from stages.corpus.vocabulary import Vocabulary
from stages.inference.generation import answer
from stages.model.attention import CausalSelfAttention, weigh
from stages.model.backbone import Backbone
from stages.model.cpu.fused import split_heads
from stages.model.gpt import GPT
from stages.model.packing import Packing
from stages.probing.people import question_about
from stages.settings import Generation


def saliency(model: GPT, vocabulary: Vocabulary, name: str, decoding: Generation) -> dict[str, Any]:
    """How much each character of `question ⁇` about a name matters to the model's own answer.

    read: those characters, without the ones that the vocabulary lacks; name: where the name starts and ends in them.

    gradients: a row a layer, for each character ‖∂ log p(answer) / ∂ x‖ over the sum of the row, x being what the
    layer reads at that character; the first layer's is the embedding's (Simonyan et al. 2013, arXiv 1312.6034). A
    variant whose blocks do not keep one vector a character has the embedding's row only.
    attention: by layer and head the weights of the ⁇ from which the answer's first character is said, for plain
    softmax attention; else empty.
    """
    model.eval()
    question = question_about(name)
    asked = prompt(vocabulary.encode(question))
    start = len(vocabulary.encode(question[: question.index(name)]))
    said = answer(model, [asked], decoding)[0]
    device = model.head.weight.device
    sequence = torch.cat([torch.from_numpy(asked), torch.from_numpy(said.tokens), torch.tensor(asked[-1:])])
    sequence = sequence[: model.context + 1].to(device)
    read: list[Tensor] = []
    joined: list[Tensor] = []
    plain = type(model.blocks) is Backbone
    hooks = [model.embedding.register_forward_hook(lambda module, args, output: read.append(output))]
    if plain:
        blocks = list(model.blocks)[1:]
        hooks += [block.register_forward_pre_hook(lambda module, args: read.append(args[0])) for block in blocks]
    mixers = [block.mixer for block in model.blocks if plain and isinstance(block.mixer, CausalSelfAttention)]
    for mixer in mixers:
        hooks.append(mixer.query_key_value.register_forward_hook(lambda module, args, output: joined.append(output)))
    try:
        with torch.enable_grad():
            logits = model(sequence[None, :-1])[0].float()  # (T, V)
    finally:
        for hook in hooks:
            hook.remove()
    targets = sequence[len(asked) :]
    log_probability = logits[len(asked) - 1 :].log_softmax(dim=-1).gather(1, targets[:, None]).sum()
    gradients = torch.autograd.grad(log_probability, read)
    rows = [gradient.float().norm(dim=-1)[: len(asked)] for gradient in gradients]
    weights = [
        attention_of_last(mixer, each.detach()[: len(asked)]) for mixer, each in zip(mixers, joined, strict=True)
    ]
    return {
        "question": question,
        "read": vocabulary.decode(asked),
        "name": [start, start + len(vocabulary.encode(name))],
        "answer": vocabulary.decode(said.tokens),
        "probability": round(said.probability, 4),
        "gradients": [_rounded(row / row.sum().clamp(min=1e-30)) for row in rows],
        "attention": [[_rounded(head) for head in layer] for layer in weights],
    }


@torch.inference_mode()
def attention_of_last(mixer: CausalSelfAttention, joined: Tensor) -> Tensor:
    """The weights (nh, T) with which the last of T positions attends; joined (T, 3C): queries, keys and values."""
    ((q, k, _),) = split_heads(joined, Packing.full((1, len(joined))), mixer.heads)  # (1, nh, T, hs)
    q, k = mixer.place(q, None), mixer.place(k, None)
    weights = weigh(q @ k.transpose(-2, -1), q.shape[-1] ** -0.5, 0.0, mixer.window)  # (1, nh, T, T)
    return weights[0, :, -1].float()


def _rounded(shares: Tensor) -> list[float]:
    return [round(share, 4) for share in shares.tolist()]
