"""README and docs/: links lead somewhere, commands and code name what exists, figures are those of committed files.

A figure is marked where it stands, by a comment that a reader of the page does not see::

    rope answers 88.5 % (86.1 to 90.9)<!-- reports/unaided/compared/metrics.json: variants.rope dev_accuracy … -->

The comment checks the figures directly before it; in a row of a table, all figures of the row up to it. Of a JSON file
it names a section and the keys of the figures, in their order. Of any other file it has words, with commas between
them, and each figure stands in the only line that has all of them. A figure may be rounded, and a share be in percent.
"""

import json
import os
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
COMMENT = re.compile(r"<!-- ((?:reports|docs)/[\w./-]+): ([^>]+) -->")
NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d,]*(?:\.\d+)?")
BEFORE = re.compile(r"(?:[-+]?\d[\d,.]*|\bto\b|\band\b|[%*(),;\s])+$")  # figures, with the words that join them
MARKED = [
    (page, file, key, line[start : found.start()])
    for page, text in TEXTS.items()
    for line in re.sub(r"(?<!\|)\n(?!\|)", " ", text).splitlines()  # a sentence may go on in the next line
    for start, found in zip(
        [0, *(found.end() for found in COMMENT.finditer(line))], COMMENT.finditer(line), strict=False
    )
    for file, key in [found.groups()]
]
each_page = pytest.mark.parametrize(("page", "text"), TEXTS.items(), ids=TEXTS)


def anchors(text: str) -> set[str]:
    """What links may name in a page: its headings as GitHub writes them."""
    headings = re.findall(r"^#+ (.+)$", FENCED.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


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


def figures(before: str) -> list[str]:
    """The figures that a comment behind this text checks."""
    before = re.sub(r"\]\([^)]*\)|`[^`]*`", "", before)  # links and names
    if not before.lstrip().startswith("|"):
        before = found[0] if (found := BEFORE.search(before)) else ""
    return [number.rstrip(",").replace(",", "") for number in NUMBER.findall(before)]


def is_rounded(shown: str, value: float) -> bool:
    """Whether a figure is a value, rounded to the decimals that are shown."""
    decimals = len(shown.partition(".")[2])
    return abs(float(shown) - value) <= 0.5 * 10**-decimals + 1e-9


@pytest.mark.skipif("PUBLISHED" not in os.environ, reason="reports of one's own have other figures")
@pytest.mark.parametrize(("page", "file", "key", "before"), MARKED)
def test_a_marked_figure_is_that_of_its_file(page: str, file: str, key: str, before: str) -> None:
    shown = figures(before)
    content = (ROOT / file).read_text(encoding="utf-8")
    if file.endswith(".json"):
        section, *names = key.split()
        values = reduce(getitem, section.split("."), json.loads(content))
        expected = [values[name] for name in names] if names else [values]
        assert len(shown) == len(expected), (shown, expected)
        assert all(map(is_rounded, shown, expected)), (shown, expected)
        return
    words = [word.strip() for word in key.split(",")]
    (line,) = [line for line in content.splitlines() if all(word in line for word in words)]
    numbers = [float(number.replace(",", "").rstrip(",")) for number in re.findall(NUMBER, line)]
    assert shown
    for figure in shown:
        assert any(is_rounded(figure, scale * number) for number in numbers for scale in (1, 100)), (figure, line)


def test_pages_mark_their_figures() -> None:
    assert {"README.md", "docs/variants.md"} <= {page for page, *_ in MARKED}
