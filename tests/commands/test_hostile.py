"""Whatever happened to a file, a command succeeds or fails in one line, and changes nothing."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stages import ask, check, prepare, sample
from stages.reporting.evaluations import read_baseline, read_evaluation
from stages.system.errors import StudyError
from tests.bounds import assert_told, bounded, contents
from tests.commands.talking import ZOE, Outcome, Run, tiny
from tests.mutations import Change, changes
from tests.project import write_params
from tests.reporting.example import write_baseline, write_variant

in_one_project = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
VALUES: list[Any] = [
    *(None, True, "", " ", "x", "\x1b[2J\n", "x" * 10**5, "ü□⁇", [], {}, [[]], {"a": {}}, [None] * 1000),
    *(0, -1, 1, 7, 10**6, 10**12, 2**63, -(2**63), 10**30, 0.0, -0.5, 1e-300, 1e30, 1e308, float("inf"), float("nan")),
    *("compared", "quick", "../../etc", "CON", "a.b", "NaN", "1e9", "2026-01-01"),
]


@contextmanager
def with_content(path: Path, content: bytes) -> Iterator[None]:
    """A file with another content while the block runs."""
    before = path.read_bytes()
    path.write_bytes(content)
    try:
        yield
    finally:
        path.write_bytes(before)


def tried(run: Run, project: Path, command: Any, *arguments: str) -> Outcome:
    """Run a command within bounds; an error is one line, and nothing is changed by it."""
    before = contents(project)
    with bounded():
        outcome = run(command, *arguments)
    assert_told(outcome.code, outcome.err)
    if outcome.code or command in (ask, sample, check):
        assert contents(project) == before
    return outcome


@in_one_project
@given(change=changes())
def test_any_bytes_of_params(run: Run, project: Path, change: Change) -> None:
    path = project / "params.yaml"
    with with_content(path, change(path.read_bytes())):
        tried(run, project, check)


@in_one_project
@given(data=st.data(), value=st.sampled_from(VALUES))
def test_any_value_of_any_key_of_params(run: Run, project: Path, data: st.DataObject, value: Any) -> None:
    def put(content: dict[str, Any]) -> None:
        tiny(content)
        section: Any = content
        while True:
            key = data.draw(st.sampled_from([*section] if isinstance(section, dict) else range(len(section))))
            if not (isinstance(section[key], dict | list) and section[key] and data.draw(st.booleans())):
                break
            section = section[key]
        section[key] = value

    try:
        write_params(project, put)
        tried(run, project, check)
    finally:
        write_params(project, tiny)


@in_one_project
@given(text=st.recursive(st.text(max_size=5), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_any_yaml_as_params(run: Run, project: Path, text: Any) -> None:
    with with_content(project / "params.yaml", yaml.safe_dump(text, allow_unicode=True).encode()):
        assert tried(run, project, check).code == 1


@in_one_project
@given(data=st.data(), change=changes())
def test_any_bytes_of_what_machines_made(run: Run, project: Path, data: st.DataObject, change: Change) -> None:
    asked = tried(run, project, ask, ZOE), tried(run, project, sample, "--recipe", "text", "--variant", "vanilla")
    assert [outcome.code for outcome in asked] == [0, 0]
    path = data.draw(st.sampled_from(sorted(path for path in (project / "data").rglob("*") if path.is_file())))
    changed = change(path.read_bytes())
    with with_content(path, changed):
        again = tried(run, project, ask, ZOE), tried(run, project, sample, "--recipe", "text", "--variant", "vanilla")
    for before, after in zip(asked, again, strict=True):  # what is read is refused, the rest changes nothing
        assert after == before or (after.code == 1 and "damaged" in after.err)


@in_one_project
@given(change=changes())
def test_any_bytes_of_a_text(run: Run, project: Path, change: Change) -> None:
    path = project / "data/raw/text/text.txt"
    with with_content(path, change(path.read_bytes())):
        kept = contents(project / "data/prepared/text")
        tried(run, project, prepare, "--recipe", "text")
    for file, content in kept.items():
        file.write_bytes(content)


@in_one_project
@given(data=st.data(), change=changes())
def test_any_bytes_of_an_evaluation(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, change: Change
) -> None:
    folder = tmp_path_factory.mktemp("evaluations")
    write_baseline(folder)
    write_variant(folder, "rope", [[1, 0]], [[1, 1]], curve_rows=3)
    path = data.draw(st.sampled_from(sorted(path for path in folder.rglob("*") if path.is_file())))
    before = path.read_bytes()
    path.write_bytes(change(before))
    told = ""
    with bounded():
        try:
            read_baseline(folder)
            read_evaluation(folder / "rope")
        except StudyError as error:
            told = str(error)
    assert told.endswith("; delete it and run `dvc repro`") or path.name == "SHA256SUMS" or path.read_bytes() == before
