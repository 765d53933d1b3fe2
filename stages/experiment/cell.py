"""The cell of the study that a command names: a recipe and a variant. No torch: loading it takes a second."""

from dataclasses import dataclass
from pathlib import Path

from stages.settings import Recipe, Settings, load
from stages.system.errors import Parser, StudyError


def prepared_folder(recipe_name: str) -> Path:
    """Where a recipe's encoded data lie."""
    return Path("data/prepared") / recipe_name


def weights_folder(recipe_name: str, variant: str) -> Path:
    """Where a cell's weights lie, in pretrained/ and finetuned/."""
    return Path("data/weights") / recipe_name / variant


def check_is_made(path: Path, stage: str) -> None:
    """Let a path pass that exists. Raises StudyError: it does not; the line says how to make it."""
    if not path.exists():
        raise StudyError(f"{path} is missing; make it with: dvc repro stages/dvc.yaml:{stage}")


@dataclass(frozen=True)
class Cell:
    """A recipe and a variant of some settings and, where one alone is to be trained, a seed."""

    settings: Settings
    recipe_name: str
    variant: str
    only_seed: int | None = None

    @classmethod
    def from_command_line(cls, description: str | None, trains: bool = False) -> "Cell":
        """Parse --recipe, --variant and, where the command trains, --seed; read params.yaml.

        Raises StudyError: params.yaml is wrong, or it has no such recipe, variant or seed.
        """
        parser = Parser(description=description)
        parser.add_argument("--recipe", required=True)
        parser.add_argument("--variant", required=True)
        if trains:
            only = "train this one of the recipe's seeds, and print its folder; the stage without it publishes all"
            parser.add_argument("--seed", type=int, help=only)
        arguments = parser.parse_args()

        settings = load()
        cell = cls(settings, arguments.recipe, arguments.variant, getattr(arguments, "seed", None))
        seeds = cell.recipe.seeds
        settings.check_variant(cell.variant)
        if cell.only_seed is not None and cell.only_seed not in seeds:
            allowed = ", ".join(map(str, seeds))
            raise StudyError(f"recipe '{cell.recipe_name}' has no seed {cell.only_seed}; allowed: {allowed}")
        return cell

    @property
    def recipe(self) -> Recipe:
        """The recipe. Raises StudyError: there is none of that name."""
        return self.settings.recipe_named(self.recipe_name)

    @property
    def seeds(self) -> list[int]:
        """The seeds to train: all of the recipe's, or the only one."""
        return self.recipe.seeds if self.only_seed is None else [self.only_seed]

    @property
    def weights_folder(self) -> Path:
        """Where the variant's weights lie."""
        return weights_folder(self.recipe_name, self.variant)
