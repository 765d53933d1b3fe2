"""A recipe with a variant, and what computes it.

That is a device, a number format, and random numbers that follow from a seed, a purpose and a step.
"""

import os
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from stages.corpus.prepared import Prepared
from stages.experiment.provenance import precision
from stages.model.cpu import library
from stages.model.cpu.processor import MULTIPLY_BFLOAT16, processor_class, processor_name
from stages.model.gpt import GPT, settings_of
from stages.settings.params import Compute, QuestionRecipe, Recipe, Settings
from stages.settings.section import Section
from stages.system.errors import UserError, tell_once


def step_generator(seed: int, purpose: str, step: int) -> np.random.Generator:
    """Return the generator of one step.

    Each step has its own, made from the step's number, so that a training goes on after a stop with the draws that it
    would have had, and saves no generator's state.
    """
    return np.random.default_rng([seed, step, *purpose.encode()])


@dataclass(frozen=True)
class Backend:
    """A device and the format of the weights that multiply on it (float32 masters stand beside them)."""

    device: torch.device
    dtype: torch.dtype

    @property
    def device_name(self) -> str:
        """The name that the device gives itself."""
        if self.device.type != "cpu":
            return torch.cuda.get_device_name(self.device)
        threads = torch.get_num_threads()
        return f"{processor_name()}, {processor_class()} ({threads} thread{'s' if threads > 1 else ''})"

    @property
    def kernels(self) -> str:
        """What computes between the matrix products: the compiled kernels, by their identity, or torch."""
        return library.identity() if self.device.type == "cpu" else "torch"

    def seed(self, number: int) -> None:
        """Seed the generator that draws on the device; torch.manual_seed takes 0.1 ms to seed those of all devices."""
        (torch.default_generator if self.device.type == "cpu" else torch.cuda).manual_seed(number)

    @property
    def precision(self) -> str:
        """The format's name, as in params.yaml."""
        return str(self.dtype).removeprefix("torch.")


def choose_backend(compute: Compute) -> Backend:
    """Return the backend that section `compute` asks for, or the fastest one here where it says auto.

    Raises UserError: CUDA is asked for and there is none.
    """
    finds_cuda, why_not = (False, "") if compute.device == "cpu" else _find_cuda()
    if compute.device == "cuda" and not finds_cuda:
        raise UserError(
            f"params.yaml: compute.device: was 'cuda', but torch finds no CUDA device here{why_not}; use auto or cpu"
        )
    if why_not:
        tell_once("DRIVER", f"compute.device auto takes the CPU, for torch finds no CUDA device here{why_not}")
    if compute.deterministic != torch.are_deterministic_algorithms_enabled():  # a second of imports, if it is set
        torch.use_deterministic_algorithms(compute.deterministic)
    # no operation here reads memory that it has not written
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    library.use_kernels(compute.kernels == "auto")
    if finds_cuda:
        _choose_cuda_kernels()
    device = torch.device("cuda" if finds_cuda else "cpu")
    on_cpu = processor_class() in MULTIPLY_BFLOAT16
    fast = torch.cuda.is_bf16_supported(including_emulation=False) if finds_cuda else on_cpu
    return Backend(device, getattr(torch, precision(compute, fast)))


def _find_cuda() -> tuple[bool, str]:
    """Return whether torch finds a CUDA device and, if not, its warning about the driver, in brackets."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        finds_cuda = torch.cuda.is_available()
    warning = str(warned[0].message).partition(". ")[0] if warned else ""
    return finds_cuda, f" ({warning})" if warning and not finds_cuda else ""


def _choose_cuda_kernels() -> None:
    """Choose the same arithmetic whatever torch would choose here.

    cuDNN's attention, torch's first choice on some devices, rounds dropout (PyTorch pull request 174245)
    and prepares itself anew for each length, hence each character generated; its float32 convolutions would round to
    TF32.
    """
    # cuBLAS gives the same sums each time with workspaces of fixed sizes; read when CUDA starts
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.backends.cuda.enable_cudnn_sdp(False)
    torch.backends.cudnn.allow_tf32 = False


@dataclass(frozen=True)
class Experiment:
    """A recipe with a variant, their typed settings, and the backend that computes."""

    params: Settings
    recipe_name: str
    variant: str
    mixer_settings: Section
    backend: Backend

    @classmethod
    def of(cls, params: Settings, recipe_name: str, variant: str) -> "Experiment":
        """Return the experiment of that recipe and variant, on the backend that params.yaml asks for.

        Raises UserError: there is no such recipe, variant or backend.
        """
        model = params.recipe_named(recipe_name).model
        params.check_variant(variant)
        mixer_settings = settings_of(variant, params.variants, model)
        return cls(params, recipe_name, variant, mixer_settings, choose_backend(params.compute))

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
        torch.manual_seed(int(step_generator(seed, "weights", 0).integers(2**63)))
        return GPT(self.variant, len(prepared.vocabulary), self.recipe.model, self.mixer_settings)

    def parameters(self, prepared: Prepared) -> int:
        """Count the parameters of the model, without making it."""
        with torch.device("meta"):
            model = GPT(self.variant, len(prepared.vocabulary), self.recipe.model, self.mixer_settings)
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
