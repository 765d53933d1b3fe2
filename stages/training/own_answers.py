"""How likely a model itself finds each phrase of a page as the answer about it.

The model is asked the commonest training question about every page, and how likely it finds each phrase of the page. So
it finds out what is asked, and can practise that: self-training on its own labels (Lee 2013; He et al. 2020, arXiv
1909.13788). It does not read the page for it, and no answer but those of training was ever shown to it.
"""

import numpy as np

from stages.corpus.capitalised import capitalised
from stages.corpus.example import MASK
from stages.corpus.phrases import Phrases, as_probabilities
from stages.corpus.prepared import Prepared
from stages.corpus.question_forms import question_forms
from stages.model.gpt import GPT
from stages.model.likelihood import read_targets


def own_answers(model: GPT, prepared: Prepared, context: int) -> Phrases:
    """Weigh the phrases of each page by their likelihood as an answer to the question about the page.

    context: the longest sequence that the model can read; longer questions and phrases are cut at their ends.
    """
    phrases = capitalised(prepared)
    form = question_forms(prepared)[0]
    sequences, first_targets = [], []
    for row in range(len(prepared.documents)):
        question = prepared.vocabulary.encode(form.about(prepared.title(row)))
        for start, end in phrases.spans[row].tolist():
            phrase = prepared.documents[row][start:end][: context // 2]
            asked = question[: context - len(phrase) - 1]
            sequences.append(np.concatenate([asked, [MASK], phrase, [MASK]]))
            first_targets.append(len(asked) + 1)
    log_likelihoods, _ = read_targets(model, sequences, first_targets)
    return phrases.chosen(map(as_probabilities, np.split(log_likelihoods, phrases.spans.offsets[1:-1])))
