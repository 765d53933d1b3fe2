"""What the influence and the targets stages left behind, read and checked before anything is reported."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from safetensors import SafetensorError
from safetensors.numpy import load

from stages.reporting.evaluations import broken, read_record, require

TARGETS = ("targets", "masked_content")
Seen = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Picture:
    """The influence of inputs (columns) on outputs (rows) of a variant with some settings, (T, T) each."""

    variant: str
    setting: str  # what tells it from the variant's other pictures, in words; empty where it is the only one
    own: bool  # whether the settings are those the variant is trained with
    seen: Seen  # any influence at all
    held: Seen  # any with the attention weights held constant
    strength: npt.NDArray[np.float64]  # 1 is what a residual passes on
    faintest: float  # the smallest derivative that is not 0

    @property
    def name(self) -> str:
        """Variant and setting, and whether that is the trained one where there are others."""
        trained = " (as trained)" if self.own else ""
        return f"{self.variant}, {self.setting}{trained}" if self.setting else self.variant


@dataclass(frozen=True)
class Pictures:
    """A variant's pictures, and the shape they were made in."""

    variant: str
    recipe: str
    layers: int
    heads: int
    width: int
    pictures: tuple[Picture, ...]

    @property
    def own(self) -> Picture:
        """That of the settings the variant is trained with."""
        return next(picture for picture in self.pictures if picture.own)


def read_pictures(folder: Path) -> Pictures:
    """Read the pictures of the variant that `folder` is named after; raises StudyError where they are broken."""
    path, matrices = folder / "influence.json", folder / "influence.safetensors"
    record = read_record(path)
    require(matrices)
    try:
        arrays = load(matrices.read_bytes())
        made = [dict(each["settings"]) for each in record["pictures"]]
        context = int(record["shape"]["context"])
        pictures = [
            Picture(
                variant=folder.name,
                setting=_in_words(settings, made),
                own=bool(each["own"]),
                faintest=float(each["faintest"]),
                strength=_square(arrays[f"{number}.strength"], context).astype(np.float64),
                **{name: _square(arrays[f"{number}.{name}"], context).astype(bool) for name in ("seen", "held")},
            )
            for number, (each, settings) in enumerate(zip(record["pictures"], made, strict=True))
        ]
        if sum(picture.own for picture in pictures) != 1:
            raise ValueError("not one picture of the variant's own settings")
        shape = {name: int(record["shape"][name]) for name in ("layers", "heads", "width")}
        return Pictures(folder.name, str(record["recipe"]), **shape, pictures=tuple(pictures))
    except (KeyError, TypeError, ValueError, SafetensorError) as error:
        raise broken(path, error) from None


def read_targets(folder: Path) -> pd.DataFrame:
    """Read targets.tsv of a recipe's folder: counts (TARGETS) by position; raises StudyError where it is broken."""
    path = folder / "targets.tsv"
    require(path)
    try:
        table = pd.read_csv(path, sep="\t").set_index("position")[list(TARGETS)].astype(int)
        if table.index.tolist() != list(range(len(table))) or not table["targets"].sum() > 0:
            raise ValueError("the positions are not 0, 1, 2 … with targets")
        return table
    except (KeyError, ValueError, pd.errors.ParserError) as error:
        raise broken(path, error) from None


def _square(matrix: npt.NDArray[Any], size: int) -> npt.NDArray[Any]:
    if matrix.shape != (size, size):
        raise ValueError(f"a matrix of {matrix.shape} where the context is {size}")
    return matrix


def _in_words(settings: dict[str, Any], all_settings: Sequence[dict[str, Any]]) -> str:
    """The settings that differ among `all_settings`: `bottleneck 32, no residual`."""
    said = []
    for key, value in settings.items():
        if any(other.get(key) != value for other in all_settings):
            word = key.replace("_", " ")
            said.append((word if value else f"no {word}") if isinstance(value, bool) else f"{word} {value}")
    return ", ".join(said)
