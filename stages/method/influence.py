"""Stage `influence`: which inputs of a variant influence which outputs, with its own settings and with further ones."""

from pathlib import Path

from safetensors.torch import save

from stages.experiment.backend import choose_backend
from stages.method.derivatives import influence, random_backbone
from stages.model.registry import settings_of
from stages.settings import load
from stages.system.digests import result_folder
from stages.system.errors import Parser, command
from stages.system.files import write_bytes, write_json


@command
def main() -> None:
    """Differentiate a variant's blocks, in the shape of the recipe `influence.recipe`."""
    parser = Parser(description=main.__doc__)
    parser.add_argument("--variant", required=True, help="a key of `variants`")
    variant = parser.parse_args().variant
    settings = load()
    settings.check_variant(variant)
    model = settings.recipe_named(settings.influence.recipe).model
    own = settings.variants[variant]
    further = [section for section in settings.influence.settings.get(variant, []) if section != own]
    sections = [("variants", own), *(("influence.settings", section) for section in further)]

    device = choose_backend(settings.compute).device
    matrices = {}
    for number, (key, values) in enumerate(sections):
        section = settings_of(variant, {variant: values}, model, key)
        backbone = random_backbone(variant, model, section).to(device)
        matrices[str(number)] = influence(backbone, model.context, model.width)
    with result_folder(Path("data/influence") / variant) as folder:
        write_json(folder / "influence.json", {"recipe": settings.influence.recipe, "settings": [own, *further]})
        write_bytes(folder / "influence.safetensors", save(matrices))


if __name__ == "__main__":
    main()
