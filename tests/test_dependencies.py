"""Each stage of stages/dvc.yaml depends on the code that it runs, and on no other."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.project import environment
from tests.tiny import ROOT, VARIANTS

STAGES = {
    name: stage.get("do", stage)
    for name, stage in yaml.safe_load((ROOT / "stages" / "dvc.yaml").read_text(encoding="utf-8"))["stages"].items()
}
# What every stage imports and what reaches a result through params.yaml alone
EXEMPT = ("stages/settings/", "stages/system/errors.py", "stages/system/files.py")
SHOW_IMPORTS = """
import importlib, json, sys
found = {}
for key, names in json.loads(sys.argv[1]).items():
    for loaded in [name for name in sys.modules if name.split(".")[0] == "stages"]:
        del sys.modules[loaded]
    for name in names:
        importlib.import_module(name)
    modules = [module for name, module in sys.modules.items() if name.split(".")[0] == "stages"]
    found[key] = [module.__file__ for module in modules]
print(json.dumps(found))
"""


def cells(name: str) -> list[str]:
    """The variants whose code the stage runs, each in a cell of its own; a nameless cell where it runs none or all."""
    return VARIANTS if any("mixers/$" in dependency for dependency in STAGES[name]["deps"]) else [""]


def dependencies(name: str, variant: str) -> list[str]:
    """What the stage depends on in the cell of a variant."""
    templates = ("${item.variant}", "${ablation.variant}")
    return [each.replace(templates[0], variant).replace(templates[1], variant) for each in STAGES[name]["deps"]]


@pytest.fixture(scope="module", name="imports")
def imports_fixture() -> dict[str, set[str]]:
    """The project's files that each cell's process imports, and their C++, by stage and variant."""
    wanted = {}
    for name, stage in STAGES.items():
        for variant in cells(name):
            mixers = [f"stages.mixers.{each}" for each in (VARIANTS if name == "check" else [variant]) if each]
            module = stage["cmd"].removeprefix("exec ").split()[2]
            started = f"{module}.__main__" if (ROOT / module.replace(".", "/")).is_dir() else module
            wanted[f"{name} {variant}"] = [started, *mixers]
    command = [sys.executable, "-c", SHOW_IMPORTS, json.dumps(wanted)]
    ended = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, check=True)
    files = {
        cell: {Path(file).relative_to(ROOT).as_posix() for file in found}
        for cell, found in json.loads(ended.stdout).items()
    }
    for found in files.values():
        sources = {file.replace(".py", ".cpp") for file in found if (ROOT / file.replace(".py", ".cpp")).is_file()}
        found |= sources
        for source in sources:
            headers = re.findall(r'^#include "(.+)"', (ROOT / source).read_text(encoding="utf-8"), re.MULTILINE)
            found |= {(Path(source).parent / header).as_posix() for header in headers}
    return {cell: {file for file in found if not file.endswith("__init__.py")} for cell, found in files.items()}


@pytest.mark.parametrize("name", STAGES)
def test_a_stage_depends_on_every_module_it_imports(name: str, imports: dict[str, set[str]]) -> None:
    for variant in cells(name):
        listed = dependencies(name, variant)
        missing = [
            file
            for file in sorted(imports[f"{name} {variant}"])
            if not file.startswith(EXEMPT) and not any(file == each or file.startswith(f"{each}/") for each in listed)
        ]
        assert missing == []


@pytest.mark.parametrize("name", STAGES)
def test_a_stage_depends_on_no_module_that_none_of_its_cells_imports(name: str, imports: dict[str, set[str]]) -> None:
    """The cells of a matrix share their list: a module that some variants share stands there for all."""
    imported = set[str]().union(*(imports[f"{name} {variant}"] for variant in cells(name)))
    for variant in cells(name):
        listed = dependencies(name, variant)
        code = [dependency for dependency in listed if dependency.startswith("stages/")]
        assert [each for each in code if not any(file.startswith(each) for file in imported)] == []
