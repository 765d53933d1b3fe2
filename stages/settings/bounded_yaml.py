"""YAML that any reader takes in at a glance: no aliases, tags or repeated keys, nothing deep, no endless number.

What remains costs no more memory and time than its text is long.
"""

import re
from pathlib import Path
from typing import Any

import yaml
from yaml.composer import ComposerError

from stages.system.errors import StudyError
from stages.system.files import read_input
from stages.system.terminal import shortened

MOST_BYTES = 1_000_000
DEEPEST = 32  # sections and lists within one another
LONGEST_NUMBER = 40  # characters


def read_yaml(path: Path) -> Any:
    """Read a YAML file. Raises StudyError: the file is missing, no YAML, or oversteps a bound."""
    try:
        return yaml.load(read_input(path, MOST_BYTES).decode("utf-8"), _Loader)
    except FileNotFoundError as error:
        raise StudyError(f"{path} is missing here; run the command in the project's root folder") from error
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise StudyError(f"{path}:{line}: not valid here: {shortened(str(error.problem), 200)}") from error
    except (yaml.YAMLError, ValueError) as error:  # ValueError: not UTF-8, or an impossible date
        raise StudyError(f"{path}: not valid YAML: {shortened(' '.join(str(error).split()), 200)}") from error


class _Loader(yaml.SafeLoader):
    """YAML 1.2 numbers, as DVC reads them: 3e-3 is one, without a point too."""

    depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.peek_event()
        if getattr(event, "anchor", None):
            raise _refusal("an anchor or alias; write the value out", event)
        if getattr(event, "tag", None):
            raise _refusal(f"the tag {event.tag!r}; remove it", event)
        if self.depth == DEEPEST:
            raise _refusal(f"more than {DEEPEST} sections or lists within one another", event)
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def compose_mapping_node(self, anchor: Any) -> Any:
        node = super().compose_mapping_node(anchor)
        lines: dict[Any, int] = {}
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in lines:
                    raise _refusal(f"{key.value!r} stands here and in line {lines[key.value]}; remove one", key)
                lines[key.value] = key.start_mark.line + 1
        return node

    def construct_yaml_int(self, node: Any) -> Any:
        if len(node.value) > LONGEST_NUMBER:
            raise _refusal(f"a number of {len(node.value)} characters", node)
        return super().construct_yaml_int(node)


_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_yaml_int)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?\d+(\.\d*)?[eE][-+]?\d+$"), list("-+0123456789")
)


def _refusal(problem: str, where: Any) -> ComposerError:
    return ComposerError(None, None, problem, where.start_mark)
