"""README, docs/ and committed reports, as tests of their figures read them.

Figures are compared as they are committed: `make study` rewrites reports with those of the machine it runs on. A report
that somebody commits in the place of the project's is known by its digest, which is not that of
reports/published.sha256; its figures are not compared. Where PUBLISHED is set, as in .ci/run, every report has to be
the project's.
"""

import hashlib
import json
import os
import re
import subprocess
from typing import Any

from tests.support.tiny import ROOT

OUTER = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "data" / "README.md"]
TEXTS = {
    page.relative_to(ROOT).as_posix(): page.read_text(encoding="utf-8")
    for page in [*OUTER, *sorted((ROOT / "docs").glob("*.md"))]
}


def committed(path: str) -> bytes:
    """A file of the last commit."""
    return subprocess.run(["git", "show", f"HEAD:{path}"], cwd=ROOT, capture_output=True, check=True).stdout


def without_links(text: str) -> str:
    """A text with links as their words."""
    return re.sub(r"\[(.*?)\]\(.*?\)", r"\1", text)


def rows_of(text: str, header: str) -> list[list[str]]:
    """The cells of the page's table whose header begins so, without links and emphasis."""
    lines = text[text.index(header) :].partition("\n\n")[0].splitlines()[2:]
    plain = [re.sub(r"[*`]", "", without_links(line)) for line in lines]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in plain]


def published(report: str) -> dict[str, Any] | None:
    """Each variant's figures in a committed report of the project; None where somebody's own stands in its place."""
    content = committed(f"reports/{report}/metrics.json")
    lines = committed("reports/published.sha256").decode().splitlines()
    listed = {name: digest for digest, name in (line.split("  ") for line in lines)}
    if hashlib.sha256(content).hexdigest() != listed[f"{report}/metrics.json"]:
        assert "PUBLISHED" not in os.environ, f"reports/{report} is not the one of reports/published.sha256"
        return None
    return json.loads(content)
