"""Strict sections of a YAML file, an error of which is one clear line; and settings that differ between two results."""

import json
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from stages.system.errors import UserError, shortened

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]  # names of recipes and variants become parts of paths
UNKNOWN = "unknown_key"  # the type of a fault
# every number has a largest sensible value: a larger one would make a stage fail, or never end
Count = Annotated[int, Field(gt=0, le=10**6)]
Natural = Annotated[int, Field(ge=0, le=10**6)]
Context = Annotated[int, Field(ge=16, le=2**17, multiple_of=8)]  # characters of a sequence
LARGEST_SEED = 2**31 - 1
Seed = Annotated[int, Field(ge=0, le=LARGEST_SEED)]
Share = Annotated[float, Field(ge=0, le=1)]
FAULTS = {  # advice, by the beginning of what a parser of YAML says
    "found character that cannot start any token": "a tab, or a sign that has a meaning: use spaces, or quote the text",
    "mapping values are not allowed": "quote a text that has a colon",
    "did not find expected": "a bracket, a brace or a quote before this line has no end",
}
Rate = Annotated[float, Field(gt=0, le=1e6)]
NonNegative = Annotated[float, Field(ge=0, le=1e6)]
T = TypeVar("T")
S = TypeVar("S", bound=BaseModel)


def written(value: Any) -> str:
    """Write a value as params.yaml has it."""
    return value if isinstance(value, str) else json.dumps(value)


def other_setting(made: Mapping[str, Any], now: Mapping[str, Any], *ignored: str) -> str | None:
    """Find the first dotted key whose value in a result's record is not today's; None where all are the same.

    made, now: the `settings` of jobs; ignored: keys that may differ.
    """
    before, after = leaves(made), leaves(now)
    keys = [key for key in {**after, **before} if key not in ignored]
    return next((key for key in keys if key not in before or key not in after or before[key] != after[key]), None)


def leaves(content: Any, key: str = "") -> dict[str, Any]:
    """List each value by its dotted key; a list is one value, and so is an empty section."""
    if not isinstance(content, dict) or not content:
        return {key: content}
    values: dict[str, Any] = {}
    for name, value in content.items():
        values |= leaves(value, f"{key}.{name}".lstrip("."))
    return values


def _distinct(values: list[T]) -> list[T]:
    if len(set(values)) < len(values):
        raise ValueError(f"was {values}; allowed: distinct ones")
    return values


Some = Annotated[list[T], Field(min_length=1, max_length=100), AfterValidator(_distinct)]


class Section(BaseModel):
    """A part of params.yaml. Unknown keys, other types, infinities and NaN are errors."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _keys_are_known(cls, content: Any) -> Any:
        """Refuse an unknown key before the key that a misspelt one leaves missing."""
        for key in content if isinstance(content, dict) else ():
            if key not in cls.model_fields:
                near = get_close_matches(str(key), cls.model_fields, 1)
                known = f"remove it; known: {', '.join(cls.model_fields) or 'none'}"
                advice = f"did you mean '{near[0]}'?" if near else known
                raise PydanticCustomError(UNKNOWN, "unknown key; {advice}", {"key": key, "advice": advice})
        return content


def read_yaml(path: Path) -> Any:
    """Read a YAML file as DVC reads and writes it: PyYAML would take `1e-05` for a text.

    Raises UserError: the file is missing or no YAML; the line says where.
    """
    try:
        return YAML(typ="safe").load(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise UserError(f"{path} is missing here; run the command in the project's root folder") from error
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        problem = shortened(str(error.problem), 200)
        advice = next((f"; {advice}" for said, advice in FAULTS.items() if problem.startswith(said)), "")
        raise UserError(f"{path}:{line}: not valid here: {problem}{advice}") from error
    except (YAMLError, ValueError) as error:  # ValueError: not UTF-8, or an impossible date
        raise UserError(f"{path}: not valid YAML: {shortened(' '.join(str(error).split()), 200)}") from error


def check(section: type[S], content: Any, path: str, prefix: str = "") -> S:
    """Validate `content` as a `section` that stands under the key `prefix` of the file `path`.

    Raises UserError: one line for the first fault, and how many more there are.
    """
    try:
        return section.model_validate(content)
    except ValidationError as error:
        faults = error.errors(include_url=False)
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        raise UserError(f"{path}: {_sentence(faults[0], prefix)}{more}") from error


def _sentence(fault: Any, prefix: str) -> str:
    """Write a pydantic fault in one line: key, what it was, what is allowed."""
    context = fault.get("ctx", {})
    unknown = [context["key"]] if fault["type"] == UNKNOWN else []
    parts = [str(part) for part in (prefix, *fault["loc"], *unknown)]
    key = shortened(".".join(part for part in parts if part and not part.startswith("<")), 200)
    if fault["type"] == "value_error":
        return ": ".join(filter(None, [key, str(context["error"])]))
    said = fault["msg"][0].lower() + fault["msg"][1:]
    if not key and fault["input"] is None:
        return "the file is empty"
    if fault["type"] == "missing":
        said = "this key is missing"
    elif not unknown:
        said = f"was {shortened(repr(fault['input']), 60)}; {said}"
    return f"{key or 'the file'}: {said}"
