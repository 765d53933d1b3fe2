"""Stage `influence`: which inputs of a variant influence which outputs, with its own settings and with further ones."""

import argparse
from pathlib import Path

from safetensors.torch import save
from torch import Tensor

from stages.costing.influence import influence, random_backbone
from stages.model.registry import settings_of
from stages.settings import load
from stages.settings.influence import pictured
from stages.system.errors import command
from stages.system.files import new_folder, write_bytes, write_json


@command
def main() -> None:
    """Differentiate a variant's blocks, in the shape of the recipe `influence.recipe`."""
    parser = argparse.ArgumentParser(prog="python -m stages.influence", description=main.__doc__)
    parser.add_argument("--variant", required=True, help="an entry of study.variants")
    variant = parser.parse_args().variant
    settings = load()
    settings.check_variant(variant)
    wanted = settings.influence
    model = settings.recipe_named(wanted.recipe).model
    own = settings_of(variant, settings.variants, model)
    further = wanted.settings.get(variant, [])
    sections = pictured(own, [settings_of(variant, {variant: each}, model, "influence.settings") for each in further])
    tensors: dict[str, Tensor] = {}
    pictures = []
    for number, section in enumerate(sections):
        found = influence(
            random_backbone(variant, model, section, wanted.seed), model.context, model.width, wanted.seed
        )
        matrices = {"seen": found.seen, "held": found.held, "strength": found.strength.float()}
        tensors |= {f"{number}.{name}": matrix for name, matrix in matrices.items()}
        pictures.append({"settings": section.model_dump(), "own": section == own, "faintest": found.faintest})
    record = {
        "variant": variant,
        "recipe": wanted.recipe,
        "shape": {"layers": model.layers, "heads": model.heads, "width": model.width, "context": model.context},
        "pictures": pictures,
    }
    with new_folder(Path("data/influence") / variant) as folder:
        write_json(folder / "influence.json", record)
        write_bytes(folder / "influence.safetensors", save(tensors))


if __name__ == "__main__":
    main()
