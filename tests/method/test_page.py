"""reports/method from what the stages leave behind."""

import re
from dataclasses import asdict, replace
from itertools import product
from pathlib import Path
from typing import Any

import html5lib
import numpy as np
import pytest
from safetensors.numpy import save

from stages.method.exploration import explore
from stages.method.measurement import Measurement
from stages.method.page import write_method
from stages.method.sections.costs import draw_costs, read_costs
from stages.method.sections.reach import Reach, draw_reach, reach_table, read_reach
from stages.method.sections.text import draw_grid
from stages.reporting.style import COLOURS
from stages.system.errors import StudyError
from stages.system.files import write_json
from tests.support.pages import TEXTS, committed, rows_of
from tests.support.project import with_content, with_sums

LENGTHS, T = [64, 128, 256, 512, 1024], 16
MADE = {"commit": "0123456789abcdef", "device": "a <quick> processor", "precision": "float32", "kernels": "torch"}
MADE_BY = {"provenance": MADE | {"libraries": {"torch": "2.0"}}}
TRIANGLE = np.tril(np.ones((T, T)))
CELL = {"width": 8, "learning_rate": 0.01, "parameters": 1234, "losses": [3.0, 2.0], "passage": "", "non_words": 0.25}


def write_result(path: Path, content: dict[str, Any]) -> None:
    write_json(path, content)
    with_sums(path.parent)


def write_data(folder: Path, variant: str, lengths: list[int] = LENGTHS, settings: tuple[Any, ...] = ({},)) -> None:
    """A variant that takes ℓ² microseconds and 10 ℓ bytes to train."""
    rows = [Measurement(n, 1_000_000 * n, 1e-6 * n**2, 10 * n, 0.0025, 100 * n) for n in lengths]
    cost = {"recipe": "quick", "shape": {"layers": 3, "heads": 4, "width": 32}} | MADE_BY
    write_result(folder / f"cost/{variant}/cost.json", cost | {"measurements": [asdict(row) for row in rows]})
    influence = folder / "influence" / variant
    write_json(influence / "influence.json", {"recipe": "quick", "settings": settings})
    (influence / "influence.safetensors").write_bytes(save({str(n): TRIANGLE for n in range(len(settings))}))
    with_sums(influence)


def write_texts(folder: Path) -> None:
    """Two trainings of each of two networks, and two ways to choose characters."""
    cells = [
        CELL | {"variant": name, "learning_rate": rate, "losses": [3.0, end], "passage": text}
        for name, rate, end, text in (
            ("rnn", 0.001, 2.5, "worse"),
            ("rnn", 0.01, 1.25, "better <1>\nthan it"),
            ("wrnn", 0.001, 2.0, "only"),
        )
    ]
    rows = [
        {"way": "greedy", "likelihood": -0.1, "repetition": 0.9, "copied": 1.0, "passage": "la la"},
        {"way": "nucleus", "likelihood": -1.25, "repetition": 0.0, "copied": 0.125, "passage": "lo li"},
    ]
    write_result(folder / "grid/grid.json", {"cells": cells} | MADE_BY)
    write_result(folder / "passages/passages.json", {"rows": rows} | MADE_BY)


def write_demonstrations(folder: Path, *variants: str) -> None:
    """Two numbers of heads, two lengths of examples, and two answers of each variant."""
    heads = [
        {"heads": heads, "seed": seed, "correct": correct, "memorised": 0.75, "spread": 0.125 * heads}
        for heads, seed, correct in ((1, 1, 0.25), (1, 2, 0.5), (8, 1, 1.0))
    ]
    lengths = [
        {"variant": "vanilla", "longest": longest, "seed": seed, "start": start, "correct": 0.5 if start else seed / 2}
        for longest, seed, start in product((64, 128), (1, 2), (0, 16))
    ]
    write_result(folder / "demonstrations/demonstrations.json", {"heads": heads, "lengths": lengths} | MADE_BY)
    answers = [{"seed": 1, "gold": "101111", "own": "100001"}, {"seed": 1, "gold": "11111", "own": "11111"}]
    for variant in variants:
        write_result(folder / f"exposure/{variant}/exposure.json", {"answers": answers} | MADE_BY)


def write_report(folder: Path, *variants: str) -> Path:
    if not (folder / "grid").exists():
        write_texts(folder)
        write_demonstrations(folder, variants[0])
    write_method(folder / "method", folder, explore(samples=100), variants, latents=8, leading=variants[:1])
    return folder / "method"


def test_the_report_shows_what_was_measured_and_each_figure_has_its_caption(tmp_path: Path) -> None:
    write_data(tmp_path, "rope", LENGTHS[:4], ({"theta": 1, "flag": True}, {"theta": 2, "flag": False}))
    write_data(tmp_path, "novelty")
    write_data(tmp_path, "vanilla")
    folder = write_report(tmp_path, "rope", "novelty", "vanilla")
    text = (folder / "report.md").read_text(encoding="utf-8")
    assert "**At 512 characters**" in text  # the longest length of both
    assert "| rope | 512.0 | 262.1 | 0.0 | 2.50 | 51.2 |" in text
    assert "- commit 0123456789 on a &lt;quick&gt; processor, float32, torch's kernels; torch 2.0\n" in text
    assert "| rope | theta 2, flag false | 0.0 | – | 16 of 16 |" in text
    # 3 (12 · 512 · 32² + 2 · 512² · 32) by hand
    assert "| vanilla | L(12ℓd² + 2ℓ²d) | 69.2 | 512.0 |" in text and "| perceiver | 10ℓd²" not in text
    assert "| rnn | 8 | 1,234 | 0.01 | 1.250 | 25.0 |" in text and "| rnn | 8 | 0.001 | 3.000 | 2.500 | 25.0 |" in text
    assert "rnn, hidden size 8, learning rate 0.01:\n\n    better <1>\n    than it\n" in text and "only\n" in text
    assert "| nucleus | -1.25 | 0.0 | 12.5 |" in text and "nucleus:\n\n    lo li\n" in text
    assert "| 1 | 37.5 | 25.0, 50.0 | 75.0 | 0.12 |\n| 8 | 100.0 | 100.0 | 75.0 | 1.00 |\n" in text
    # 10 of 11 characters right after the gold prefix, 7 after the model's own; four of them after the wrong one
    assert "| rope | gold | 50.0 | 90.9 | 100.0 | 50.0 | 100.0 | 100.0 | 100.0 | 100.0 | 100.0 |" in text
    assert "| rope | own | 50.0 | 63.6 | 100.0 | 50.0 | 50.0 | 50.0 | 66.7 | 25.0 | 0.0 |" in text
    assert "| vanilla | 64 | 75.0 | 50.0 |\n| vanilla | 128 | 75.0 | 50.0 |\n" in text
    shown = re.findall(r"!\[[^\]]+\]\((\w+)\.svg\)\n\n\*[A-Z].{20,}\.\*\n", text)
    assert set(shown) == {path.stem for path in folder.glob("*.svg")} and "influence_rope" in shown
    page = html5lib.parse((folder / "index.html").read_text(encoding="utf-8"), namespaceHTMLElements=False)
    assert len([figure for figure in page.iter("figure") if list(figure.iter("figcaption"))]) == len(shown)


def test_what_an_output_cannot_know_is_counted() -> None:
    matrix = TRIANGLE.copy()
    matrix[8:, 4:8] = 0
    table = reach_table([Reach("bottle", "quick", "m 4", matrix), Reach("full", "quick", "", TRIANGLE)])
    lost = f"{100 * 32 / 136:.1f}"
    assert table.splitlines()[2:] == [f"| bottle | m 4 | {lost} | 8 | 12 of 16 |", "| full |  | 0.0 | – | 16 of 16 |"]


@pytest.mark.parametrize("number", [1, 14])
def test_the_pictures_have_a_line_or_a_panel_a_variant(tmp_path: Path, number: int) -> None:
    write_data(tmp_path, "rope")
    costs = draw_costs([replace(read_costs(tmp_path / "cost/rope"), variant=f"v{at}") for at in range(number)])
    assert [len(axes.lines) for axes in costs.axes] == [number] * 3
    assert costs.axes[0].lines[0].get_ydata()[-1] == pytest.approx(1048.576)  # milliseconds
    figure = draw_reach(read_reach(tmp_path / "influence/rope") * number, ["rope"] * number)
    drawn = [np.ma.filled(axes.images[0].get_array(), 0) for axes in figure.axes[:-1]]
    assert np.array_equal(drawn, [TRIANGLE] * number)


def test_a_broken_file_is_told_in_one_line(tmp_path: Path) -> None:
    write_data(tmp_path, "rope")
    write_texts(tmp_path)
    write_demonstrations(tmp_path, "rope")
    files = [*tmp_path.rglob("*.json")]
    assert len(files) == 6
    for file in files:
        of_other_code = with_content(file, b"{}", sums=True)
        with of_other_code, pytest.raises(StudyError, match=re.escape(str(file))) as caught:
            write_report(tmp_path, "rope")
        assert "\n" not in str(caught.value)


def test_the_verdicts_on_wrnn_rest_on_the_committed_table() -> None:
    page, docs = committed("reports/method/report.md").decode(), TEXTS["docs/variants.md"]
    loss = {(row[0], int(row[1])): float(row[4]) for row in rows_of(page, "| variant | hidden size | parameters |")}
    for title, sizes in (("of the same size", (32, 64, 128)), ("of as many parameters", (36, 72, 144))):
        leads = [loss["rnn", size] - loss["wrnn", own] for size, own in zip(sizes, (32, 64, 128), strict=True)]
        assert f"| before `rnn` {title} | {' | '.join(f'{lead:.3f}' for lead in leads)} |" in docs

    none = [(row[2], float(row[5])) for row in rows_of(page, "| variant | hidden size | learning rate |")]
    lowest = [share for rate, share in none if rate == "0.0001"]
    best = [float(row[5]) for row in rows_of(page, "| variant | hidden size | parameters |")]
    assert f"at 1e-4 {min(lowest):.0f} to {max(lowest):.0f} % of the words" in docs
    assert f"at the best rate {min(best):.0f} to {max(best):.0f} %" in docs


def test_contrastive_search_repeats_as_little_as_the_docs_say() -> None:
    page, docs = committed("reports/method/report.md").decode(), TEXTS["docs/variants.md"]
    rows = {way: cells for way, *cells in rows_of(page, "| characters | log-likelihood")}
    (search,) = (cells for way, cells in rows.items() if way.startswith("contrastive search"))
    assert f"before, {rows['greedy'][1]} %" in docs and f" {search[1]} % of their runs" in docs
    assert f"{rows['top-k, 10'][2]} % is recited" in TEXTS["docs/data.md"]


def test_every_variant_of_the_grid_has_a_line_however_many_colours_there_are() -> None:
    names = [f"variant_{number}" for number in range(len(COLOURS) + 1)]
    sizes = draw_grid([CELL | {"variant": name} for name in names]).axes[0]
    assert [line.get_label() for line in sizes.lines] == names
