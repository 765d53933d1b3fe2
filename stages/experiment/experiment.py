"""A cell with its typed settings and its backend: its models, and the checks of its weights."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from stages.corpus.prepared import Prepared
from stages.corpus.vocabulary import Vocabulary
from stages.experiment.backend import Backend, choose_backend
from stages.experiment.cell import Cell
from stages.experiment.draws import generator
from stages.model.gpt import GPT
from stages.model.registry import settings_of
from stages.settings import QuestionRecipe, Section, Settings
from stages.settings.changes import other_setting
from stages.system.errors import StudyError
from stages.system.files import read_json

STAGES = {"pretrained": "pretrain", "finetuned": "finetune"}  # a folder of weights: what makes it
SHORT = {"finetune_scratch": "scratch", "finetune_pretrained": "finetune"}  # a bar's title has half of 80 columns


@dataclass(frozen=True, kw_only=True)
class Experiment(Cell):
    """A cell with its typed settings and the backend that computes it."""

    mixer: Section
    backend: Backend
    selected: tuple[str, ...] = ()  # variants that params.yaml selects, where it selects this cell

    @classmethod
    def to_train(cls, cell: Cell) -> "Experiment":
        """Return a cell to train. Raises StudyError: as `of`."""
        params = cell.params
        experiment = cls.of(params, cell.recipe_name, cell.variant)
        selected = params.selected(params.model.variant) if params.recipe == cell.recipe_name else []
        selected = selected if cell.variant in selected else []
        return replace(experiment, only_seed=cell.only_seed, selected=tuple(selected))

    @classmethod
    def of(cls, params: Settings, recipe_name: str, variant: str) -> "Experiment":
        """Return the cell of that recipe and variant, on the backend that params.yaml asks for.

        Raises StudyError: there is no such recipe, variant or backend.
        """
        model = params.recipe_named(recipe_name).model
        params.check_variant(variant)
        mixer = settings_of(variant, params.variants, model)
        return cls(params, recipe_name, variant, mixer=mixer, backend=choose_backend(params.compute))

    @property
    def question_recipe(self) -> QuestionRecipe:
        """The recipe, which has questions. Raises StudyError: it has none."""
        return self.params.question_recipe(self.recipe_name)

    def title(self, phase: str, seed: int) -> str:
        """Return the title of a training's bar; where several variants are selected, with this one's number."""
        among = self.selected
        number = f"{among.index(self.variant) + 1} of {len(among)}: " if len(among) > 1 else ""
        return f"{number}{self.variant} {SHORT.get(phase, phase)}, seed {seed}"

    def line(self, seed: int) -> int:
        """Return the line of the terminal for a training's bar: one a seed where the seeds train side by side."""
        return 0 if self.only_seed is None else self.recipe.seeds.index(seed)

    def settings(self, *sections: str) -> dict[str, Any]:
        """Return what a seed's result depends on, as JSON values.

        sections: of the recipe, beside model and optimizer; variant, device and number format are there, too.
        """
        chosen = {section: getattr(self.recipe, section) for section in ("model", "optimizer", *sections)}
        return {
            "variant": {self.variant: self.mixer.model_dump()},
            "recipe": {name: part.model_dump() for name, part in chosen.items()},
            "compute": self.backend.traits,
        }

    def new_model(self, prepared: Prepared, seed: int) -> GPT:
        """Return the model with the seed's random weights."""
        torch.manual_seed(int(generator(seed, "weights", 0).integers(2**63)))
        return GPT(self.variant, len(prepared.vocabulary), self.recipe.model, self.mixer)

    def check_weights(self, folder: Path, vocabulary: Vocabulary, *sections: str) -> None:
        """Refuse weights that were trained with another variant, shape or vocabulary than today's.

        folder: `pretrained` or `finetuned` of any cell; sections: further ones of the recipe to compare, which say how
        weights are trained, not what they mean. Raises StudyError: one line with the setting that differs.
        """
        make = f"train anew with: dvc repro stages/dvc.yaml:{STAGES[folder.name]}@{self.recipe_name}-{self.variant}"

        def parts(settings: dict[str, Any]) -> dict[str, Any]:
            recipe = {name: settings["recipe"][name] for name in ("model", *sections)}
            return {"variant": settings["variant"], "recipe": recipe}

        made = read_json(folder / "provenance.json")
        ignored = () if sections else ("recipe.model.dropout",)  # which matters in training only
        other = other_setting(parts(made["settings"]), parts(self.settings(*sections)), *ignored)
        if other or made["vocabulary_sha256"] != vocabulary.sha256:
            raise StudyError(f"{folder} was trained with another {other or 'vocabulary'}; {make}")

    def trained_model(self, prepared: Prepared, weights: Path) -> GPT:
        """Return the model with the weights of a file, in float32 on the backend's device.

        Raises StudyError: the file is damaged or of another model. Raises OSError: it is missing.
        """
        model = self.new_model(prepared, seed=0)
        try:
            model.load_state_dict(load_file(weights))
        except SafetensorError as error:
            raise StudyError(f"{weights} is damaged ({error}); delete it and run `dvc repro`") from error
        except RuntimeError as error:  # other names or shapes
            raise StudyError(f"{weights} was trained with other settings; run `dvc repro`") from error
        return model.to(self.backend.device)
