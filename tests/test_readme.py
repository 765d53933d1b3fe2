"""What the README shows step by step is done here literally, in a clone."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.project import write_params
from tests.test_pipeline import Project, clone, small, stages_run, trained
from tests.tiny import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(heading: str) -> list[tuple[str, str]]:
    """The fenced blocks of a section: language and content."""
    section = re.search(rf"^### {re.escape(heading)}\n(.*?)^##", README, re.MULTILINE | re.DOTALL)
    assert section
    return re.findall(r"^```(\w+)\n(.*?)^```$", section[1], re.MULTILINE | re.DOTALL)


def add(there: Any, new: Any) -> Any:
    """The settings with new entries: lists get longer, sections get keys."""
    if isinstance(new, list):
        return [*there, *new]
    if isinstance(new, dict):
        return there | {key: add(there[key], value) if key in there else value for key, value in new.items()}
    raise AssertionError(f"{there!r} is there already")


@pytest.fixture(scope="module", name="project")
def project_fixture(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return clone(tmp_path_factory.mktemp("readme") / "project")


def test_a_variant_is_added_as_the_readme_says(project: Project) -> None:
    (_, code), (_, settings), (_, commands) = blocks("Add your own variant")
    name = re.match(r"# (stages/model/mixers/(\w+)\.py)\n", code)
    assert name
    path, variant = Path(name[1]), name[2]
    (project.folder / path).write_text(code, encoding="utf-8")

    def grown(content: dict[str, Any]) -> None:
        small(content)
        content |= add(content, yaml.safe_load(settings))

    write_params(project.folder, grown)
    for folder in ("tests", "pyproject.toml"):
        target = project.folder / folder
        if (ROOT / folder).is_dir():
            shutil.copytree(ROOT / folder, target, ignore=shutil.ignore_patterns("__pycache__"))
        elif not target.exists():
            shutil.copy(ROOT / folder, target)
    test, experiment = commands.splitlines()
    passed = re.search(r"(\d+) passed", project.run(*test.split()))
    assert passed and int(passed[1]) >= 10
    output = project.run(*experiment.split())
    assert trained(output) == [f"pretrain@quick-{variant}", f"finetune@quick-{variant}"]
    assert [stage for stage in stages_run(output) if stage.endswith(("rope", "vanilla"))] == []
    assert set(project.metrics()["variants"]) == {variant}
