"""Each stage depends on the code that it imports, and on no other folder: the pipeline and the studies beside it."""

import ast
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest
import yaml

from tests.support.tiny import ROOT, VARIANTS

STAGES = {
    f"{file.parent.relative_to(ROOT)}/{name}": stage.get("do", stage)
    for file in (ROOT / "dvc.yaml", *sorted((ROOT / "stages").rglob("dvc.yaml")))
    for name, stage in yaml.safe_load(file.read_text(encoding="utf-8"))["stages"].items()
    if name not in ("compare", "collect")  # which copy a file
}
# What every stage imports and what reaches a result through params.yaml alone
EXEMPT = ("stages/settings/", "stages/system/", "stages/__init__.py")


def files_of(module: str) -> set[Path]:
    """The files that an import of a module runs: its own and the `__init__.py` of every package above it."""
    parts = module.split(".")
    packages = [ROOT.joinpath(*parts[:end], "__init__.py") for end in range(1, len(parts) + 1)]
    return {path for path in (*packages, ROOT.joinpath(*parts).with_suffix(".py")) if path.is_file()}


@cache
def imports_of(file: Path) -> set[Path]:
    """The project's files that a file's import statements name, but for those that only a type checker reads."""
    files: set[Path] = set()
    tree = ast.parse(file.read_text(encoding="utf-8"))
    unread = [node for node in ast.walk(tree) if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    for node in {*ast.walk(tree)}.difference(*map(ast.walk, unread)):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        for name in names:
            files |= files_of(name) if name.startswith("stages") else set()
    return files


def script_of(name: str) -> str:
    """The module that the stage runs."""
    return STAGES[name]["cmd"].removeprefix("exec ").split()[2]


def imported(name: str, variants: list[str]) -> set[str]:
    """All files that the stage runs, with those of some variants, as paths from the root."""
    modules = [script_of(name), *(f"stages.mixers.{variant}" for variant in variants)]
    todo = set().union(*map(files_of, modules))
    seen: set[Path] = set()
    while todo:
        file = todo.pop()
        seen.add(file)
        todo |= imports_of(file) - seen
    return {file.relative_to(ROOT).as_posix() for file in seen}


def variants_of(name: str) -> list[str]:
    """The variants whose code the stage runs, each in a cell of its own; all in one cell for `check`."""
    dependencies = " ".join(STAGES[name]["deps"])
    if named := re.findall(r"stages/mixers/(\w+)\.py", dependencies):
        return named
    return VARIANTS if "mixers" in dependencies else []


def code_of(name: str, variant: str) -> list[str]:
    """The code that the stage lists, in the cell of a variant."""
    paths = [re.sub(r"\$\{\w+\.variant\}", variant, path) for path in STAGES[name]["deps"]]
    return [path for path in paths if path.startswith("stages/")]


def unlisted(files: Iterable[str], listed: list[str]) -> list[str]:
    """The files that are neither listed nor in a folder that is."""
    return [file for file in files if not any(Path(file).is_relative_to(path) for path in listed)]


@pytest.mark.parametrize("name", STAGES)
def test_a_stage_depends_on_every_file_it_imports_and_on_no_folder_that_none_of_its_cells_imports(name: str) -> None:
    """The cells of a matrix share their list: a folder that some variants need stands there for all."""
    variants = variants_of(name)
    of_all = imported(name, variants)
    for variant in variants or [""]:
        listed = code_of(name, variant)
        files = imported(name, [variant] if variant else [])
        assert unlisted([file for file in files if not file.startswith(EXEMPT)], listed) == []
        code = [path for path in listed if path.endswith(".py") or [*(ROOT / path).rglob("*.py")]]
        assert [path for path in code if not any(file.startswith(path) for file in of_all)] == []
        assert [path for path in listed if (ROOT / path / "dvc.yaml").exists()] == []  # or DVC's lock would lie there

    script = Path(f"{script_of(name).replace('.', '/')}.py")
    templates = re.findall(r"\w+\.md\.jinja", (ROOT / script).read_text(encoding="utf-8"))
    assert unlisted([str(script.with_name(template)) for template in templates], code_of(name, "rope")) == []
