"""README and docs/: links lead somewhere, commands name what exists, figures are those of the reports.

Figures are compared as `tests.support.pages` says.
"""

import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml

from stages.__main__ import COMMANDS
from tests.support.pages import TEXTS, committed
from tests.support.project import environment
from tests.support.tiny import ROOT, params

FENCED = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
STAGES = set(yaml.safe_load((ROOT / "dvc.yaml").read_text(encoding="utf-8"))["stages"])
each_page = pytest.mark.parametrize(("page", "text"), TEXTS.items(), ids=TEXTS)


def anchors(text: str) -> set[str]:
    """What links may name in a page: its headings as GitHub writes them."""
    headings = re.findall(r"^#+ (.+)$", FENCED.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_links_of_committed_reports_lead_somewhere() -> None:
    reports = sorted((ROOT / "reports").rglob("report.md"))
    assert len(reports) > 5
    for report in reports:
        for path in re.findall(r"\]\((?!https?:)([^)#]+)", report.read_text(encoding="utf-8")):
            assert (report.parent / path).is_file(), (report, path)
            page = report.with_name("index.html").read_text(encoding="utf-8")
            assert not path.endswith("report.md") or f'href="{path.removesuffix("report.md")}index.html"' in page


@each_page
def test_links_lead_somewhere(page: str, text: str) -> None:
    for path, anchor in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", FENCED.sub("", text)):
        target = (ROOT / page).parent / path if path else ROOT / page
        assert target.is_file(), (path, anchor)
        assert not anchor or anchor in anchors(target.read_text(encoding="utf-8")), (path, anchor)


def test_every_page_of_docs_is_linked_from_the_readme() -> None:
    assert [page for page in TEXTS if page.startswith("docs/") and f"({page}" not in TEXTS["README.md"]] == []


@each_page
def test_commands_name_what_exists(page: str, text: str) -> None:
    for module in re.findall(r"python -m ([a-z_.]+\w)", text):
        assert find_spec(module), module
    for name in re.findall(r"python -m stages (\w+)", text):
        assert name in COMMANDS, name
    for stage, study in re.findall(r"\bdvc (?:repro|exp run)(?: --\w+)* (?:(\w+)|(stages/\S+?))(?=[\s`])", text):
        file, _, name = study.partition(":")
        assert stage in STAGES if stage else (ROOT / file).is_file(), stage or study
        assert not name or name in yaml.safe_load((ROOT / file).read_text(encoding="utf-8"))["stages"], study
    for key in re.findall(r"-S '?([\w.]+)=", text):
        section: Any = params()
        for part in key.split("."):
            section = section[part]
    for target in re.findall(r"`make (\w+)`|^make (\w+)", text, re.MULTILINE):
        assert re.search(rf"^{''.join(target)}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE), target


@each_page
def test_cited_code_stands_in_its_file(page: str, text: str) -> None:
    for language, block in FENCED.findall(text):
        path, *lines = block.splitlines()
        if language == "python" and page == "docs/one-step.md":
            code = {line.strip() for line in (ROOT / path.removeprefix("# ")).read_text(encoding="utf-8").splitlines()}
            assert [line for line in lines if line not in code] == [], path
    for name, path in re.findall(r"`(\w+)`\s\((stages/[\w/]+\.py)\)", text):
        assert re.search(rf"^ *(?:def|class) {name}\b", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE), name


def test_the_example_of_a_variant_keeps_its_contract(tmp_path: Path) -> None:
    example = TEXTS["docs/variants.md"].partition("## Add your own variant")[2]
    (_, code), (_, settings), (_, commands) = FENCED.findall(example)
    path = re.match(r"# (stages/mixers/(\w+)\.py)\n", code)
    assert path
    for folder in ("stages", "tests"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / path[1]).write_text(code, encoding="utf-8")
    committed_settings = committed("params.yaml").decode()  # `variants` is the last section
    (tmp_path / "params.yaml").write_text(committed_settings + settings, encoding="utf-8")
    tests, experiment = commands.splitlines()
    command = [sys.executable, *tests.split()[1:], "-v"]
    ended = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stdout
    contract = ("some_later_ones_and_none_before", "equals_full_forward", "full_forward_in_bfloat16", "gets_a_gradient")
    for name in contract:
        assert re.search(rf"::test_\w+{name}\[.*{path[2]}.*\] PASSED", ended.stdout), name
    assert experiment.endswith(f"-S model.variant={path[2]}")
