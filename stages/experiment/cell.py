"""The cell that a command names: a recipe and a variant. It imports no torch, which takes a second to load."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from stages.settings import PARAMS, Recipe, Settings, load
from stages.system.errors import Parser, StudyError


def check_is_made(path: Path, stage: str) -> None:
    """Raise StudyError, which says how to make it, unless a path exists."""
    if not path.exists():
        raise StudyError(f"{path} is missing; make it with: dvc repro stages/dvc.yaml:{stage}")


@dataclass(frozen=True)
class Cell:
    """A recipe and a variant of params.yaml and, where one alone is to be trained, a seed."""

    params: Settings
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

        cell = cls(load(), arguments.recipe, arguments.variant, getattr(arguments, "seed", None))
        for seed in cell.seeds:
            cell.check_seed(seed)
        cell.params.check_variant(cell.variant)
        return cell

    @property
    def recipe(self) -> Recipe:
        """The recipe. Raises StudyError: there is none of that name."""
        return self.params.recipe_named(self.recipe_name)

    def check_seed(self, seed: int) -> None:
        """Raise StudyError unless a seed is one of the recipe's."""
        if seed not in self.recipe.seeds:
            allowed = ", ".join(map(str, self.recipe.seeds))
            raise StudyError(f"recipe '{self.recipe_name}' has no seed {seed}; allowed: {allowed}")

    @property
    def seeds(self) -> list[int]:
        """The seeds to train: all of the recipe's, or the only one."""
        return self.recipe.seeds if self.only_seed is None else [self.only_seed]

    def check_unchanged(self, sections: Iterable[str]) -> None:
        """Raise StudyError if params.yaml has other settings for this cell by now; sections: of the recipe.

        DVC reads params.yaml when a stage ends, and would store them as what its results were made with.
        """
        now = replace(self, params=load())
        pairs = [(getattr(now.recipe, section), getattr(self.recipe, section)) for section in (*sections, "seeds")]
        pairs += [(now.params.variants.get(self.variant), self.params.variants[self.variant])]
        new, old = (cell.params.compute.model_dump(exclude={"checkpoint_seconds"}) for cell in (now, self))
        pairs += [(new, old)]
        if any(new != old for new, old in pairs):
            what = f"the settings of {self.recipe_name}, {self.variant} were changed while it trained"
            raise StudyError(f"{PARAMS}: {what}; undo that to keep what was trained, then run the same command again")

    @property
    def prepared_folder(self) -> Path:
        """Where the recipe's encoded data lie."""
        return Path("data/prepared") / self.recipe_name

    @property
    def weights_folder(self) -> Path:
        """Where the variant's weights lie, in pretrained/ and finetuned/."""
        return Path("data/weights") / self.recipe_name / self.variant
