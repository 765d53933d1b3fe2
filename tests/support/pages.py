"""README and docs/, as tests read them."""

import subprocess

from tests.support.tiny import ROOT

OUTER = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "data" / "README.md"]
TEXTS = {
    page.relative_to(ROOT).as_posix(): page.read_text(encoding="utf-8")
    for page in [*OUTER, *sorted((ROOT / "docs").glob("*.md"))]
}


def committed(path: str) -> bytes:
    """A file of the last commit."""
    return subprocess.run(["git", "show", f"HEAD:{path}"], cwd=ROOT, capture_output=True, check=True).stdout


def cells(text: str, *first: str) -> list[list[str]]:
    """The cells that follow these in each row of a table that begins with them."""
    lines = [line for line in text.splitlines() if line.startswith(f"| {' | '.join(first)} |")]
    return [[cell.strip() for cell in line.strip("|").split("|")][len(first) :] for line in lines]
