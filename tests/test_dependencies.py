"""Each stage depends on the code that it imports, and on no other folder: the pipeline, its jobs, and the studies."""

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from stages.jobs.job import KINDS
from tests.support.tiny import BUILT_IN, ROOT, VARIANTS


def resolved(name: str, stage: Any) -> Iterator[tuple[str, Any]]:
    """Each stage that an entry of dvc.yaml stands for, by its name: `page@muon` of the `foreach` of `page`."""
    if "foreach" not in stage:
        yield name, stage
        return
    for key in stage["foreach"]:
        values = {"key": key, "item": key}
        if isinstance(stage["foreach"], dict):
            values |= {f"item.{field}": value for field, value in stage["foreach"][key].items()}
        text = re.sub(r"\$\{([\w.]+)\}", lambda match, values=values: values[match[1]], yaml.safe_dump(stage["do"]))
        yield f"{name}@{key}", yaml.safe_load(text)


STAGES = {
    f"{file.parent.relative_to(ROOT)}/{name}": stage
    for file in (ROOT / "dvc.yaml", *sorted((ROOT / "stages").rglob("dvc.yaml")))
    for entry in yaml.safe_load(file.read_text(encoding="utf-8"))["stages"].items()
    for name, stage in resolved(*entry)
}
# What every stage imports and what reaches a result through params.yaml alone
EXEMPT = ("stages/settings/", "stages/system/", "stages/jobs/", "stages/__init__.py")


def files_of(module: str) -> set[Path]:
    """The files that an import of a module runs: its own and the `__init__.py` of every package above it."""
    parts = module.split(".")
    packages = [ROOT.joinpath(*parts[:end], "__init__.py") for end in range(1, len(parts) + 1)]
    return {path for path in (*packages, ROOT.joinpath(*parts).with_suffix(".py")) if path.is_file()}


@cache
def imports_of(file: Path) -> set[Path]:
    """The project's files that a file's import statements name, but for those that only a type checker reads."""
    nodes = {*ast.walk(tree := ast.parse(file.read_text(encoding="utf-8")))}
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            nodes.difference_update(ast.walk(node))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return set().union(*(files_of(name) for name in names if name.startswith("stages")))


def imported(modules: Iterable[str]) -> set[str]:
    """All files that modules run, as paths from the root."""
    todo = set().union(*map(files_of, modules))
    seen: set[Path] = set()
    while todo:
        file = todo.pop()
        seen.add(file)
        todo |= imports_of(file) - seen
    return {file.relative_to(ROOT).as_posix() for file in seen}


def has_code(file: str) -> bool:
    """Whether a file, or a template, has more than a docstring."""
    text = (ROOT / file).read_text(encoding="utf-8")
    return not file.endswith(".py") or len(ast.parse(text).body) > 1


def unlisted(files: Iterable[str], listed: Sequence[str]) -> list[str]:
    """The files that change a result and are neither listed nor in a folder that is."""
    there = [file for file in files if not file.startswith(EXEMPT) and has_code(file)]
    return [file for file in there if not any(Path(file).is_relative_to(path) for path in listed)]


def unread(listed: Iterable[str], files: Iterable[str]) -> list[str]:
    """The modules and folders of modules that are listed without a reason."""
    code = [path for path in listed if path.endswith(".py") or [*(ROOT / path).rglob("*.py")]]
    return [path for path in code if not any(file.startswith(path) for file in files)]


@pytest.mark.parametrize("name", STAGES)
def test_a_stage_depends_on_every_file_it_imports_and_on_no_folder_that_it_does_not_import(name: str) -> None:
    listed = [path for path in STAGES[name]["deps"] if path.startswith("stages/")]
    script = STAGES[name]["cmd"].removeprefix("exec ").split()[2]
    mixers = VARIANTS if "stages/mixers" in listed else re.findall(r"stages/mixers/(\w+)\.py", " ".join(listed))
    files = imported([script, *(f"stages.mixers.{variant}" for variant in mixers)])
    assert (unlisted(files, listed), unread(listed, files)) == ([], [])
    assert [path for path in listed if (ROOT / path / "dvc.yaml").exists()] == []  # or DVC's lock would lie there

    path = Path(f"{script.replace('.', '/')}.py")
    templates = re.findall(r"\w+\.md\.jinja", (ROOT / path).read_text(encoding="utf-8"))
    assert unlisted([str(path.with_name(template)) for template in templates], listed) == []


@pytest.mark.parametrize("kind", KINDS)
def test_the_key_of_a_job_depends_on_every_file_that_carries_it_out_and_on_its_own_variant_alone(kind: str) -> None:
    listed = [f"stages/{path}" for path in KINDS[kind].code]
    files = imported([f"stages.{KINDS[kind].module or kind}"])
    assert (unlisted(files, listed), unread(listed, files)) == ([], [])
    for variant in BUILT_IN:
        mixer = f"stages/mixers/{variant}.py"
        assert unlisted(imported([f"stages.mixers.{variant}"]), [*listed, mixer]) == []
