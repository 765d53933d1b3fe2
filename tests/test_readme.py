"""README and docs/: links lead somewhere, commands and cited code name what exists, the example of a variant works."""

import re
import shutil
import subprocess
import sys
from functools import reduce
from importlib.util import find_spec
from operator import getitem
from pathlib import Path

import pytest

from stages.__main__ import COMMANDS
from tests.support.pages import TEXTS, committed
from tests.support.project import environment
from tests.support.tiny import ROOT, params
from tests.test_dependencies import STAGES

LINK = re.compile(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)")  # its path and its anchor
FENCED = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
each_page = pytest.mark.parametrize(("page", "text"), TEXTS.items(), ids=TEXTS)


def anchors(text: str) -> set[str]:
    """What links may name in a page: its headings as GitHub writes them."""
    headings = re.findall(r"^#+ (.+)$", FENCED.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_links_of_committed_reports_lead_somewhere() -> None:
    reports = sorted((ROOT / "reports").rglob("report.md"))
    assert len(reports) > 5
    for report in reports:
        for path, _ in LINK.findall(report.read_text(encoding="utf-8")):
            assert not path or (report.parent / path).is_file(), (report, path)
            page = report.with_name("index.html").read_text(encoding="utf-8")
            assert not path.endswith("report.md") or f'href="{path.removesuffix("report.md")}index.html"' in page


@each_page
def test_links_lead_somewhere(page: str, text: str) -> None:
    for path, anchor in LINK.findall(FENCED.sub("", text)):
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
    for target in re.findall(r"\bdvc (?:repro|exp run)(?: --\w+)* (\w[\w/.:@]*\w)", text):
        stage = target.replace("dvc.yaml:", "") if "/" in target else f"./{target}"
        assert stage in STAGES or (ROOT / target).is_file(), target
    for key in re.findall(r"-S '?([\w.]+)=", text):
        reduce(getitem, key.split("."), params())
    for target in re.findall(r"`make (\w+)`|^make (\w+)", text, re.MULTILINE):
        assert re.search(rf"^{''.join(target)}:", MAKEFILE, re.MULTILINE), target


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
    tests, experiment = commands.splitlines()
    path, name = re.match(r"# (stages/mixers/(\w+)\.py)\n", code).groups()
    assert experiment.endswith(f"-S model.variant={name}")
    for folder in ("stages", "tests"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / path).write_text(code, encoding="utf-8")
    committed_settings = committed("params.yaml").decode()  # `variants` is the last section
    (tmp_path / "params.yaml").write_text(committed_settings + settings, encoding="utf-8")
    command = [sys.executable, *tests.split()[1:], "-v"]
    ended = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stdout
    for contract in ("later_ones_and_none_before", "equals_full_forward", "forward_in_bfloat16", "gets_a_gradient"):
        assert re.search(rf"::test_\w+{contract}\[.*{name}.*\] PASSED", ended.stdout), contract
