"""The least memory that a training takes, estimated from its settings before it begins."""

from stages.settings.params import Settings
from stages.settings.recipe import QuestionRecipe, Recipe
from stages.system.errors import StudyError

GIB = 2**30
# measured with `handout` and with shapes of 0.1 to 26 million weights on a CPU, within a third
BYTES_A_WEIGHT = 18  # the weight, its gradient, its moments, a copy in bfloat16
NUMBERS_A_CHANNEL = 25  # kept for the backward pass for each character and block


def check_needs(settings: Settings, name: str, has: float, bytes_a_number: int) -> None:
    """Refuse a recipe that takes more than `has` bytes of memory.

    Raises StudyError: one line with the recipe, what it needs and what to lower.
    """
    needed = memory(settings.recipe_named(name), bytes_a_number)
    sizes = "model.layers, model.width, model.context"
    if needed > has:
        lack = f"a step of a full batch needs about {needed / GIB:,.0f} GiB, this machine has {has / GIB:,.0f}"
        raise StudyError(f"params.yaml: recipes.{name}: {lack}; lower {sizes} or a batch_size")


def memory(recipe: Recipe, bytes_a_number: int) -> float:
    """Estimate the bytes of a step on the larger of the batches, whose documents all fill the context."""
    model = recipe.model
    batch = recipe.pretrain.batch_size
    if isinstance(recipe, QuestionRecipe):
        batch = max(batch, recipe.finetune.batch_size)
    weights = 12 * model.layers * model.width**2  # roughly: 4 d² a block for attention, 8 d² for the MLP
    kept = bytes_a_number * NUMBERS_A_CHANNEL * batch * model.context * model.layers * model.width
    return BYTES_A_WEIGHT * weights + kept
