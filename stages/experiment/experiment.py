"""A recipe with a variant, and what computes it: the models of both."""

from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from stages.corpus.prepared import Prepared
from stages.experiment.backend import Backend, choose_backend, generator
from stages.model.gpt import GPT, settings_of
from stages.settings import QuestionRecipe, Recipe, Section, Settings
from stages.system.errors import UserError


@dataclass(frozen=True)
class Experiment:
    """A recipe with a variant, their typed settings, and the backend that computes."""

    params: Settings
    recipe_name: str
    variant: str
    mixer: Section
    backend: Backend

    @classmethod
    def of(cls, params: Settings, recipe_name: str, variant: str) -> "Experiment":
        """Return the experiment of that recipe and variant, on the backend that params.yaml asks for.

        Raises UserError: there is no such recipe, variant or backend.
        """
        model = params.recipe_named(recipe_name).model
        params.check_variant(variant)
        mixer = settings_of(variant, params.variants, model)
        return cls(params, recipe_name, variant, mixer, choose_backend(params.compute))

    @property
    def recipe(self) -> Recipe:
        """The recipe."""
        return self.params.recipe_named(self.recipe_name)

    @property
    def question_recipe(self) -> QuestionRecipe:
        """The recipe, which has questions. Raises UserError: it has none."""
        return self.params.question_recipe(self.recipe_name)

    def new_model(self, prepared: Prepared, seed: int) -> GPT:
        """Return the model with the seed's random weights."""
        torch.manual_seed(int(generator(seed, "weights", 0).integers(2**63)))
        return GPT(self.variant, len(prepared.vocabulary), self.recipe.model, self.mixer)

    def parameters(self, prepared: Prepared) -> int:
        """Count the parameters of the model, without making it."""
        with torch.device("meta"):
            model = GPT(self.variant, len(prepared.vocabulary), self.recipe.model, self.mixer)
        return sum(weight.numel() for weight in model.parameters())

    def trained_model(self, prepared: Prepared, weights: Path) -> GPT:
        """Return the model with the weights of a file, in float32 on the backend's device.

        Raises UserError: the file is damaged or of another model. Raises OSError: it is missing.
        """
        model = self.new_model(prepared, seed=0)
        try:
            model.load_state_dict(load_file(weights))
        except SafetensorError as error:
            raise UserError(f"{weights} is damaged ({error}); delete it and run `dvc repro`") from error
        except RuntimeError as error:  # other names or shapes
            raise UserError(f"{weights} was trained with other settings; run `dvc repro`") from error
        return model.to(self.backend.device)
