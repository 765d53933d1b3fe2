"""A cell of the study: one model trained on pairs, and the bits that it has stored of them."""

from math import log

import numpy as np
import torch

from stages.capacity.pairs import Pair, draw
from stages.capacity.row import BITS_OF_A_PLACE, Cell, Row
from stages.corpus.example import MASK, Examples
from stages.corpus.vocabulary import Vocabulary
from stages.experiment.backend import choose_backend
from stages.experiment.draws import generator
from stages.experiment.provenance import provenance
from stages.jobs.job import work_folder
from stages.model.gpt import GPT
from stages.model.likelihood import read_targets
from stages.model.registry import settings_of
from stages.settings import Optimizer, Settings
from stages.settings.sources import MOST_PEOPLE
from stages.system.errors import StudyError
from stages.system.locks import locked
from stages.training.cuda_graph import trainer_for
from stages.training.loop import Phase, train

CODE = ("capacity", "corpus", "experiment", "model", "sources", "training")
FIRST_SYMBOL, SYMBOLS = 0xF0000, 0x20000  # private planes: a name as one token is one of their characters


class Task:
    """A cell's pairs, model and phase."""

    def __init__(self, settings: Settings, cell: Cell) -> None:
        section = settings.capacity
        self.cell = cell
        expansion = 0 if cell.control == "no_mlp" else section.model.expansion
        self.shape = section.model.model_copy(update={"width": cell.width, "expansion": expansion})
        self.mixer = settings_of(cell.variant, settings.variants, self.shape)
        self.pairs = draw(self._people(), cell.seed)
        self.vocabulary, self.questions, self.answers = encoded(self.pairs, cell.control == "token")
        lengths = (len(name) + len(place) for name, place in zip(self.questions, self.answers, strict=True))
        longest = max(lengths) - 1  # the last one is not read
        if longest > self.shape.context:
            what = f"was {self.shape.context}; allowed: at least {longest}, for the longest pair"
            raise StudyError(f"params.yaml: capacity.model.context: {what}")
        self.optimizer = Optimizer.model_validate(section.optimizer.model_dump() | {"matrices": cell.matrices})
        self.phase = Phase(
            "capacity",
            "capacity",
            self._examples,
            len(self.pairs),
            cell.exposures,
            section.batch_size,
            cell.learning_rate,
            section.schedule,
            self.shape.context,
        )

    def _people(self) -> int:
        """Return how many people hold the load; names are characters here, as they are in the other cells.

        Raises StudyError: a world cannot have so few or so many.
        """
        characters = encoded(draw(1000, self.cell.seed), False)[0]
        with torch.device("meta"):
            model = GPT(self.cell.variant, len(characters), self.shape, self.mixer)
        people = round(self.cell.load * count(model) / BITS_OF_A_PLACE)
        most = SYMBOLS if self.cell.control == "token" else MOST_PEOPLE
        if not 1 <= people <= most:
            what = f"width {self.cell.width} at load {self.cell.load:g} takes {people:,} people"
            raise StudyError(f"params.yaml: capacity.parts: {what}; allowed: 1 to {most:,}")
        return people

    def _examples(self, rows: np.ndarray, _: np.random.Generator) -> Examples:
        """Return `NAME ⁇ PLACE ⁇` of the rows (B,); the place and the closing ⁇ are targets."""
        return Examples.of_rows([self.sequence(row) for row in rows], [len(self.questions[row]) for row in rows])

    def sequence(self, row: int) -> np.ndarray:
        """Return `NAME ⁇ PLACE ⁇`: (T,)."""
        return np.concatenate([self.questions[row], self.answers[row]])

    def new_model(self) -> GPT:
        """Return the model with the seed's random weights."""
        torch.manual_seed(int(generator(self.cell.seed, "weights", 0).integers(2**63)))
        return GPT(self.cell.variant, len(self.vocabulary), self.shape, self.mixer)

    def bits_stored(self, model: GPT) -> tuple[float, float]:
        """Return the bits asked less the model's code length of the answers, and the share of exact matches."""
        sequences = [self.sequence(row) for row in range(len(self.pairs))]
        nats, exact = read_targets(model, sequences, [len(question) for question in self.questions])
        return sum(pair.bits for pair in self.pairs) + float(nats.sum()) / log(2), float(exact.mean())


def encoded(pairs: list[Pair], as_tokens: bool) -> tuple[Vocabulary, list[np.ndarray], list[np.ndarray]]:
    """Return the characters of pairs, and each one's `NAME ⁇` and `PLACE ⁇`; as_tokens: a name is one character."""
    names = [chr(FIRST_SYMBOL + row) if as_tokens else pair.name for row, pair in enumerate(pairs)]
    vocabulary = Vocabulary.of([*names, *(pair.place for pair in pairs)])
    questions, answers = [], []
    for name, pair in zip(names, pairs, strict=True):
        questions.append(np.append(vocabulary.encode(name), MASK))
        answers.append(np.append(vocabulary.encode(pair.place), MASK))
    return vocabulary, questions, answers


def count(model: GPT) -> int:
    """Count the parameters."""
    return sum(weight.numel() for weight in model.parameters())


def trained(settings: Settings, cell: Cell, title: str) -> Row:
    """Train a cell, from its checkpoint where there is one, and measure it.

    Raises StudyError: another process trains it.
    """
    task = Task(settings, cell)
    backend = choose_backend(settings.compute)
    depends_on = [cell.model_dump(), backend.traits]
    work = work_folder(f"capacity-{cell.variant}", depends_on, (*CODE, f"mixers/{cell.variant}.py"))
    trainer = trainer_for(task.new_model(), task.optimizer, backend)
    interval = settings.compute.checkpoint_seconds
    checkpoint = work / "training.checkpoint"
    with locked(work / "lock"):
        seconds = train(trainer, task.phase, cell.seed, checkpoint, interval, title).seconds
        model = task.new_model().to(backend.device)
        model.load_state_dict(trainer.weights())
        stored, exact = task.bits_stored(model)
        checkpoint.unlink()

    made = provenance(depends_on, backend, seconds)
    return Row(
        **cell.model_dump(),
        people=len(task.pairs),
        parameters=count(model),
        inner_parameters=count(model) - model.embedding.weight.numel() - model.head.weight.numel(),
        bits_asked=round(sum(pair.bits for pair in task.pairs), 1),
        bits_stored=round(stored, 1),
        exact=round(exact, 4),
        seconds=round(seconds, 1),
        commit=made["commit"],
        device=made["device"],
        precision=made["precision"],
    )
