"""How many other places a model holds for likelier: the rank of the gold among all places, by probability.

That tells a fact that is nearly known (second of hundreds) from one that is not known at all, where greedy decoding
only says that both are wrong.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from stages.corpus.vocabulary import MASK, Vocabulary
from stages.inference.generation import in_batches
from stages.inference.searches import Search
from stages.model.gpt import GPT
from stages.probing.forms import Asked
from stages.probing.spelling import log_probabilities

ROWS = 32  # prompts searched at once; each branches into lines
WIDEST = 64  # lines of a prompt at most
BEYOND = WIDEST + 1  # the rank of a gold that more beginnings of places were likelier than: it is not counted out


def ranks(model: GPT, vocabulary: Vocabulary, asked: Sequence[Asked], places: Collection[str]) -> np.ndarray:
    """(B,) the rank of each gold place after its prompt, from 1: one more than the other places that are likelier.

    At most BEYOND, which stands for all greater ones.

    places: all that may stand for one another. A place's probability is that of all its characters, and of the closing
    ⁇ where the gold has one; all golds have one, or none has.
    """
    gold = log_probabilities(model, vocabulary, asked)
    closing = MASK if asked and asked[0].said.endswith(MASK) else ""
    trie = Trie.of([vocabulary.encode(text) for text in {place + closing for place in places}])
    longest = max(len(place) for place in places) + len(closing)
    own = np.array([trie.find(vocabulary.encode(each.said)) for each in asked])

    def search_of(prompts: np.ndarray, rows: np.ndarray) -> _Likelier:
        return _Likelier(trie, rows, gold[prompts], own[prompts])

    prompts = [vocabulary.encode(each.prompt) for each in asked]
    return np.array(in_batches(model, prompts, longest, ROWS, search_of), dtype=np.int64)


@dataclass(frozen=True)
class Trie:
    """Texts that share their beginnings; node 0 is the empty one, edges first[n]…first[n+1]−1 lead on from node n."""

    first: np.ndarray  # (nodes + 1,)
    character: np.ndarray  # (edges,) what is read along an edge
    child: np.ndarray  # (edges,) the node it leads to
    ends: np.ndarray  # (nodes,) bool, whether a text ends there

    @classmethod
    def of(cls, texts: Sequence[np.ndarray]) -> "Trie":
        """The trie of encoded texts."""
        children: list[dict[int, int]] = [{}]
        ends = [False]
        for text in texts:
            node = 0
            for character in text.tolist():
                if character not in children[node]:
                    children[node][character] = len(children)
                    children.append({})
                    ends.append(False)
                node = children[node][character]
            ends[node] = True
        edges = [(character, child) for each in children for character, child in sorted(each.items())]
        pairs = np.array(edges, dtype=np.int64).reshape(-1, 2)
        first = np.cumsum([0, *map(len, children)])
        return cls(first, pairs[:, 0], pairs[:, 1], np.array(ends))

    def find(self, text: np.ndarray) -> int:
        """The node where a text ends, −1 if it is none of the trie's."""
        node = 0
        for character in text.tolist():
            edges = np.arange(self.first[node], self.first[node + 1])
            way = edges[self.character[edges] == character]
            if not len(way):
                return -1
            node = int(self.child[way[0]])
        return node if self.ends[node] else -1


class _Likelier(Search[int]):
    """Counts a trie's texts that are likelier than each prompt's gold.

    A beginning that is no likelier than the gold cannot be that of a likelier text, and is left.
    """

    def __init__(self, trie: Trie, prompts: np.ndarray, gold: np.ndarray, own: np.ndarray) -> None:
        """prompts (R,): which one each row of the batch continues; gold, own (prompts,): log-probability and node."""
        self.trie = trie
        self.gold = gold
        self.own = own
        self.count = np.zeros(len(gold), dtype=np.int64)
        self.beyond = np.zeros(len(gold), dtype=bool)  # prompts with more lines than are followed
        self.prompts = prompts  # of the lines that go on
        self.nodes = np.zeros(len(prompts), dtype=np.int64)
        self.totals = np.zeros(len(prompts))

    def choose(self, logits: Tensor, full: np.ndarray) -> tuple[Tensor | None, Tensor] | None:
        likely = logits.float().log_softmax(dim=-1).cpu().double().numpy()  # (R, V)
        ways = self.trie.first[self.nodes + 1] - self.trie.first[self.nodes]
        line = np.repeat(np.arange(len(ways)), ways)
        edge = np.arange(ways.sum()) - np.repeat(np.cumsum(ways) - ways, ways) + self.trie.first[self.nodes[line]]
        totals = self.totals[line] + likely[line, self.trie.character[edge]]
        likelier = totals > self.gold[self.prompts[line]]
        line, edge, totals = line[likelier], edge[likelier], totals[likelier]
        nodes, prompts = self.trie.child[edge], self.prompts[line]
        others = self.trie.ends[nodes] & (nodes != self.own[prompts])
        self.count += np.bincount(prompts[others], minlength=len(self.count))
        self.beyond |= np.bincount(prompts, minlength=len(self.gold)) > WIDEST
        on = (self.trie.first[nodes + 1] > self.trie.first[nodes]) & ~full[line] & ~self.beyond[prompts]
        self.nodes, self.prompts, self.totals = nodes[on], prompts[on], totals[on]
        if not on.any():
            return None
        device = logits.device
        return torch.from_numpy(line[on]).to(device), torch.from_numpy(self.trie.character[edge[on]]).to(device)

    def answers(self) -> list[int]:
        ranks: list[int] = np.where(self.beyond, BEYOND, np.minimum(1 + self.count, BEYOND)).tolist()
        return ranks
