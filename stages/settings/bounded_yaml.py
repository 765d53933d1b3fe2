"""YAML that any reader takes in at a glance: no aliases or tags, nothing deep, no endless number.

What remains costs no more memory and time than its text is long.
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML, CollectionEndEvent, CollectionStartEvent, Event, ScalarEvent
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from stages.system.errors import StudyError
from stages.system.files import read_input
from stages.system.terminal import shortened

MOST_BYTES = 1_000_000
DEEPEST = 32  # sections and lists within one another
ENDLESS_NUMBER = re.compile(r"[-+]?(0[box][\da-fA-F_]{39,}|[\d_.]{41,})")


def read_yaml(path: Path) -> Any:
    """Read a YAML file as DVC reads it. Raises StudyError: the file is missing, no YAML, or oversteps a bound."""
    reader = YAML(typ="safe")
    try:
        text = read_input(path, MOST_BYTES).decode("utf-8")
        _refuse_what_grows(reader.parse(text))
        return reader.load(text)
    except FileNotFoundError as error:
        raise StudyError(f"{path} is missing here; run the command in the project's root folder") from error
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise StudyError(f"{path}:{line}: not valid here: {shortened(str(error.problem), 200)}") from error
    except (YAMLError, ValueError) as error:  # ValueError: not UTF-8, or an impossible date
        raise StudyError(f"{path}: not valid YAML: {shortened(' '.join(str(error).split()), 200)}") from error


def _refuse_what_grows(events: Iterable[Event]) -> None:
    """Read a file's events to their end. Raises MarkedYAMLError: one of them oversteps a bound."""
    depth = 0
    for event in events:
        depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
        problem = None
        if getattr(event, "anchor", None):
            problem = "an anchor or alias; write the value out"
        elif tag := getattr(event, "tag", None):
            problem = f"the tag {tag!r}; remove it"
        elif depth > DEEPEST:
            problem = f"more than {DEEPEST} sections or lists within one another"
        elif isinstance(event, ScalarEvent) and ENDLESS_NUMBER.fullmatch(event.value):
            problem = f"a number of {len(event.value)} characters"
        if problem:
            raise MarkedYAMLError(problem=problem, problem_mark=event.start_mark)
