"""Each stage depends on the code that it imports, and on no other folder: the pipeline and the studies beside it."""

import ast
import re
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
def imports_of(file: Path) -> frozenset[Path]:
    """The project's files that a file's import statements name."""
    found: set[Path] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        found |= {path for name in names if name.split(".")[0] == "stages" for path in files_of(name)}
    return frozenset(found)


def module_of(name: str) -> str:
    """The script that the stage runs."""
    command: str = STAGES[name]["cmd"]
    return command.removeprefix("exec ").split()[2]


def imported(name: str, variants: list[str]) -> set[str]:
    """All files that the stage runs, with those of some variants, as paths from the root."""
    todo = set().union(files_of(module_of(name)), *(files_of(f"stages.mixers.{variant}") for variant in variants))
    found: set[Path] = set()
    while todo:
        file = todo.pop()
        found.add(file)
        todo |= imports_of(file) - found
    return {file.relative_to(ROOT).as_posix() for file in found}


def variants_of(name: str) -> list[str]:
    """The variants whose code the stage runs, each in a cell of its own; all in one cell for `check`."""
    if named := re.findall(r"stages/mixers/(\w+)\.py", " ".join(deps(name))):
        return named
    return VARIANTS if any("mixers" in dependency for dependency in STAGES[name]["deps"]) else []


def code_of(name: str, variant: str) -> list[str]:
    """The code that the stage lists, in the cell of a variant."""
    filled = [re.sub(r"\$\{\w+\.variant\}", variant, each) for each in deps(name)]
    return [each for each in filled if each.startswith("stages/")]


def deps(name: str) -> list[str]:
    """The dependencies of a stage as they are written."""
    listed: list[str] = STAGES[name]["deps"]
    return listed


def test_imports_stand_at_the_top_of_their_file_but_for_those_of_torch_in_a_command_that_may_not_need_it() -> None:
    nested = {
        file.relative_to(ROOT).as_posix()
        for file in (ROOT / "stages").rglob("*.py")
        if re.search(r"^ +(from|import) stages\b", file.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert nested == {"stages/pretrain.py", "stages/finetune.py", "stages/experiment/provenance.py"}


@pytest.mark.parametrize("name", STAGES)
def test_a_stage_depends_on_every_file_it_imports(name: str) -> None:
    for variant in variants_of(name) or [""]:
        listed = code_of(name, variant)
        missing = [
            file
            for file in sorted(imported(name, [variant] if variant else []))
            if not file.startswith(EXEMPT) and not any(file == each or file.startswith(f"{each}/") for each in listed)
        ]
        assert missing == []


@pytest.mark.parametrize("name", STAGES)
def test_a_stage_depends_on_no_folder_that_none_of_its_cells_imports(name: str) -> None:
    """The cells of a matrix share their list: a folder that some variants need stands there for all."""
    files = imported(name, variants_of(name))
    for variant in variants_of(name) or [""]:
        listed = code_of(name, variant)
        code = [path for path in listed if path.endswith(".py") or [*(ROOT / path).rglob("*.py")]]
        assert [path for path in code if not any(file.startswith(path) for file in files)] == []


@pytest.mark.parametrize("name", STAGES)
def test_a_stage_depends_on_no_folder_in_which_dvc_writes_its_lock(name: str) -> None:
    """It would never be up to date."""
    assert [path for path in code_of(name, "rope") if (ROOT / path / "dvc.yaml").exists()] == []


@pytest.mark.parametrize("name", STAGES)
def test_a_stage_of_a_study_depends_on_the_templates_beside_its_script(name: str) -> None:
    script = ROOT / module_of(name).replace(".", "/")
    named = re.findall(r"\w+\.md\.jinja", script.with_suffix(".py").read_text(encoding="utf-8"))
    beside = [script.parent.relative_to(ROOT) / template for template in named]
    listed = code_of(name, "rope")
    assert [path for path in map(str, beside) if path not in listed and str(Path(path).parent) not in listed] == []
