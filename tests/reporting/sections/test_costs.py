"""The section on costs: formula beside measurement, at any number of variants."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pandas as pd
import pytest

from stages.costing.formulas import FORMULAS, Shape
from stages.reporting.sections.cost_figure import draw_costs
from stages.reporting.sections.costs import costs_part, costs_table, generation_table, memory_table, time_table
from stages.reporting.sections.measured import read_costs
from stages.reporting.sections.overhead import TRAINING, outweighed, overhead_finding
from stages.system.errors import StudyError
from tests.tiny import SETTINGS

LENGTHS = [64, 128, 256, 512, 1024]


def write_costs(
    folder: Path,
    variant: str,
    settings: dict[str, Any] | None = None,
    lengths: list[int] = LENGTHS,
    by_rows: bool = False,
    exponents: dict[str, Any] | None = None,
) -> None:
    """Write cost.json of a variant that takes ℓ² microseconds and 10 ℓ bytes to train.

    exponents: in place of those, or beside them, by what is measured: slope and error.
    """
    rows = [
        {
            "length": length,
            "forward_seconds": 1e-6 * length,
            "forward_bytes": length,
            "training_seconds": 1e-6 * length**2,
            "training_bytes": 10 * length,
            "character_seconds": 0.0025,
            "state_bytes": 100 * length,
            "total_bytes": 1000 * length,
        }
        for length in lengths
    ]
    record = {
        "variant": variant,
        "settings": settings or {},
        "recipe": "quick",
        "shape": {"layers": 3, "heads": 4, "width": 32},
        "by_rows": by_rows,
        "measurements": rows,
        "left_out": {"4096": "about 9.0 GiB; cost.memory is 3 GiB"},
        "exponents": {
            "training_seconds": {"slope": 2.0, "error": 0.034},
            "training_bytes": {"slope": 1.0, "error": 0.0},
            "character_seconds": None,
            **{name: {"slope": slope, "error": error} for name, (slope, error) in (exponents or {}).items()},
        },
        "provenance": {"device": "a <quick> processor (1 threads)", "precision": "float32"},
    }
    path = folder / variant / "cost.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record), encoding="utf-8")


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def only_row(table: str) -> list[str]:
    return cells(table.splitlines()[2])


def test_the_tables_of_exponents_set_theory_beside_measurement(tmp_path: Path) -> None:
    found = {
        "forward_seconds": (1.5, 0.1),
        "forward_bytes": (0.9, 0.02),
        "character_seconds": (-0.001, 0.2),
        "state_bytes": (1.0, 0.01),
    }
    write_costs(tmp_path, "vanilla", exponents=found)
    measured = [read_costs(tmp_path / "vanilla")]
    row = only_row(time_table(measured))
    # by hand: 2ℓ²d + 12ℓd² is as ℓ² + 6·32 ℓ; from 256 to 1,024 characters it grows with 1.7 or so
    steps = [(length**2 + 192 * length) for length in (256, 512, 1024)]
    assert 1.6 < float(row[3]) < 1.9
    assert float(row[3]) == pytest.approx((pd.Series(steps).apply("log2").iloc[[0, 2]].diff().iloc[1]) / 2, abs=0.01)
    assert row[:3] == ["vanilla", "ℓ²d + ℓd²", "2"]
    assert row[4:] == ["1.50 ± 0.10", "2.00 ± 0.03"]
    row = only_row(memory_table(measured))
    assert row[1:3] == ["hℓ² + ℓd", "2"]
    assert row[4:] == ["0.90 ± 0.02", "1.00 ± 0.00"]
    row = only_row(generation_table(measured))
    # by hand: 4d² + 2ℓd + 8d² is as ℓ + 6·32
    ends = [length + 192 for length in (256, 1024)]
    assert row[:3] == ["vanilla", "ℓd + d²", "1"]
    assert float(row[3]) == pytest.approx(pd.Series(ends).apply("log2").diff().iloc[1] / 2, abs=0.02)
    assert row[4:] == ["0.00 ± 0.20", "ℓd", "1", "1.00 ± 0.01"]


def test_what_a_character_costs_at_any_length_is_named(tmp_path: Path) -> None:
    for variant in ("perceiver", "rope", "window"):
        write_costs(tmp_path, variant, SETTINGS.variants[variant])
    part = costs_part(tmp_path, ["perceiver", "rope", "window"])
    assert part is not None
    assert "; by formula that is perceiver, window." in part.text
    assert "| window | wd + d² | 0 | 0.00 | – | wd | 0 | – |" in part.text
    alone = costs_part(tmp_path, ["rope"])
    assert alone is not None and "by formula that is" not in alone.text


def test_a_variant_without_a_formula_is_measured_all_the_same(tmp_path: Path) -> None:
    assert "novelty" not in FORMULAS
    write_costs(tmp_path, "novelty")
    part = costs_part(tmp_path, ["novelty"])
    assert part is not None
    assert "No formula is stated for novelty." in part.text
    rows = [cells(line) for line in part.text.splitlines() if line.startswith("| novelty")]
    nothing = ["novelty", "–", "–", "–"]
    assert rows[:3] == [[*nothing, "–", "2.00 ± 0.03"], [*nothing, "–", "1.00 ± 0.00"], [*nothing, "–", "–", "–", "–"]]
    assert "far more slowly" not in part.text


def test_a_form_that_computes_more_than_the_method_needs_says_so(tmp_path: Path) -> None:
    write_costs(tmp_path, "window", SETTINGS.variants["window"])
    part = costs_part(tmp_path, ["window"])
    assert part is not None
    assert "| window | ℓwd + ℓd²; here ℓ²d + ℓd² | 2 |" in part.text
    assert "Of window the method needs the first term" in part.text
    assert "from row to row" not in part.text


def test_where_attention_goes_by_rows_no_scores_are_kept(tmp_path: Path) -> None:
    variants = ["vanilla", "synthesizer", "random_synthesizer", "window"]
    for variant in variants:
        write_costs(tmp_path, variant, SETTINGS.variants[variant], by_rows=True)
    part = costs_part(tmp_path, variants)
    assert part is not None
    lines = memory_table([read_costs(tmp_path / variant) for variant in variants]).splitlines()
    rows = {cells(line)[0]: cells(line) for line in lines}
    assert rows["vanilla"][1:3] == ["hℓ² + ℓd; here ℓd", "1"]
    assert rows["window"][1:3] == ["hℓw + ℓd; here ℓd", "1"]
    assert rows["synthesizer"][1:3] == ["hℓ² + ℓd; here ℓd", "1"]
    assert rows["random_synthesizer"][1:3] == ["hℓ² + ℓd", "2"]
    times = time_table([read_costs(tmp_path / variant) for variant in variants]).splitlines()
    assert [cells(line)[1:3] for line in times if cells(line)[0] == "window"] == [["ℓwd + ℓd²", "1"]]
    assert "the form that is counted" not in part.text
    assert "The attention of vanilla, synthesizer, window was measured from row to row" in part.text


def test_what_overhead_explains_is_not_put_down_to_rows(tmp_path: Path) -> None:
    section = SETTINGS.variants["perceiver"]
    write_costs(tmp_path, "perceiver", section, by_rows=True, exponents={"training_seconds": (0.25, 0.09)})
    write_costs(tmp_path, "window", SETTINGS.variants["window"], by_rows=True, exponents={"training_seconds": (1, 0.1)})
    part = costs_part(tmp_path, ["perceiver", "window"])
    assert part is not None
    said = FORMULAS["perceiver"].cost(Shape(1024, 3, 4, 32), section)
    slower = "grows far more slowly than its formula: the exponent with backward is 0.25"
    assert f"The time of perceiver {slower}" in part.text
    assert (
        "This happens where a fixed overhead of each operation outweighs the arithmetic: "
        f"at 1,024 characters a forward pass has {said.multiply_adds / 1e6:,.0f} M multiply-adds, and takes "
        "1,048.6 ms with its backward pass."
    ) in part.text
    assert "The attention of perceiver, window was measured from row to row" in part.text
    assert "Measured times of window may grow more slowly" in part.text
    alone = costs_part(tmp_path, ["perceiver"])
    assert alone is not None
    kept = "these keep no scores; the formula of their memory is the second one, after *here*"
    assert f"{kept}.\n" in alone.text and "may grow more slowly" not in alone.text
    assert f"{kept}; operations of window count no pairs out of reach." in part.text


@pytest.mark.parametrize(
    ("variant", "by_rows", "slope", "error", "told"),
    [
        ("vanilla", False, 1.1, 0.1, True),  # 1.7 by formula
        ("vanilla", False, 1.1, 0.4, False),  # within two standard errors
        ("vanilla", False, 1.5, 0.1, False),
        ("vanilla", True, 1.1, 0.1, False),  # pairs that rows leave out are not computed
        ("vanilla", True, 0.5, 0.1, True),
        ("min_gru", False, 0.8, 0.1, False),
        ("min_gru", False, 0.7, 0.1, True),
        ("min_gru", False, 0.7, 0.2, False),
    ],
)
def test_overhead_is_told_where_time_grows_far_more_slowly_than_arithmetic(
    tmp_path: Path, variant: str, by_rows: bool, slope: float, error: float, told: bool
) -> None:
    exponents = {"training_seconds": (slope, error)}
    write_costs(tmp_path, variant, SETTINGS.variants[variant], by_rows=by_rows, exponents=exponents)
    found = outweighed([read_costs(tmp_path / variant)], TRAINING)
    assert [each.variant for each in found] == [variant] * told
    assert bool(overhead_finding(found, TRAINING)) == told


def test_overhead_of_a_character_is_told_of_all_that_have_it(tmp_path: Path) -> None:
    slopes = {"min_gru": 0.0, "rope": -0.1, "vanilla": 0.03, "mqa": 0.7}
    for variant, slope in slopes.items():
        write_costs(tmp_path, variant, SETTINGS.variants[variant], exponents={"character_seconds": (slope, 0.1)})
    part = costs_part(tmp_path, [*slopes])
    assert part is not None
    step = FORMULAS["rope"].cost(Shape(1024, 3, 4, 32), {}).step
    slower = "grows far more slowly than its formula: the exponent is -0.10 to 0.03"
    assert f"The time of rope and vanilla {slower}" in part.text
    assert f"at 1,024 characters a character has {step / 1e6:.1f} M multiply-adds and takes 2.50 ms." in part.text


def test_the_table_of_costs_is_in_the_units_it_names(tmp_path: Path) -> None:
    write_costs(tmp_path, "vanilla")
    row = cells(costs_table([read_costs(tmp_path / "vanilla")], 1024).splitlines()[2])
    products = FORMULAS["vanilla"].cost(Shape(1024, 3, 4, 32), {}).multiply_adds
    assert row == ["vanilla", f"{products / 1e6:,.0f}", "1.0", "1,048.6", "0.0", "0.0", "2.50", "102"]


def test_the_section_has_what_is_there_and_says_what_is_not(tmp_path: Path) -> None:
    write_costs(tmp_path, "vanilla")
    write_costs(tmp_path, "rope", SETTINGS.variants["rope"], LENGTHS[:4])
    part = costs_part(tmp_path, ["mqa", "rope", "vanilla"])
    assert part is not None
    assert part.text.startswith("## What a variant costs\n")
    assert "At 512 characters." in part.text  # the longest length of both
    assert "mqa" not in part.text
    assert "vanilla at 4096 (about 9.0 GiB; cost.memory is 3 GiB)" in part.text
    assert "a &lt;quick&gt; processor" in part.text
    assert "6d = 192" in part.text
    assert "(1 thread)" in part.text and "1 threads" not in part.text
    table = pd.read_csv(pd.io.common.StringIO(part.files["cost.csv"]))
    assert table.groupby("variant")["length"].apply(list).to_dict() == {"rope": LENGTHS[:4], "vanilla": LENGTHS}
    assert "fit over\n256 to 1,024 characters; measured" in part.text  # rope has too few for one
    ElementTree.fromstring(part.files["cost.svg"])


def test_fits_over_other_lengths_are_told(tmp_path: Path) -> None:
    write_costs(tmp_path, "vanilla", lengths=[*LENGTHS, 2048])
    write_costs(tmp_path, "rope", SETTINGS.variants["rope"])
    part = costs_part(tmp_path, ["rope", "vanilla"])
    assert part is not None
    assert "fit over\n256 to 2,048 characters, of each variant the longer half of its own; measured" in part.text


def test_variants_without_a_common_length_share_no_table(tmp_path: Path) -> None:
    write_costs(tmp_path, "vanilla", lengths=[64])
    write_costs(tmp_path, "rope", SETTINGS.variants["rope"], lengths=[128])
    part = costs_part(tmp_path, ["rope", "vanilla"])
    assert part is not None
    assert "next character" not in part.text


def test_without_any_variant_there_is_no_section(tmp_path: Path) -> None:
    assert costs_part(tmp_path / "nothing", ["vanilla"]) is None
    (tmp_path / "vanilla").mkdir()
    assert costs_part(tmp_path, ["vanilla"]) is None


@pytest.mark.parametrize("content", ["{", "{}", "[]", '{"measurements": [{"length": 1}], "settings": 3}'])
def test_a_broken_file_is_told_in_one_line(tmp_path: Path, content: str) -> None:
    (tmp_path / "vanilla").mkdir()
    (tmp_path / "vanilla" / "cost.json").write_text(content, encoding="utf-8")
    with pytest.raises(StudyError, match=r"vanilla/cost\.json: broken") as told:
        costs_part(tmp_path, ["vanilla"])
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("number", [1, 2, 14])
def test_the_picture_has_a_line_a_variant_and_a_legend_that_fits(tmp_path: Path, number: int) -> None:
    names = [f"random_synthesizer_{place}" for place in range(number)]
    for name in names:
        write_costs(tmp_path, name)
    figure = draw_costs([read_costs(tmp_path / name) for name in names], names)
    figure.draw_without_rendering()
    assert [len(axes.lines) for axes in figure.axes] == [number] * 3
    assert [axes.get_xscale() + axes.get_yscale() for axes in figure.axes] == ["loglog"] * 3
    assert figure.axes[0].lines[0].get_ydata()[-1] == pytest.approx(1048.576)  # milliseconds
    (legend,) = figure.legends
    assert legend.get_texts()[0].get_text() == "random_synthesizer_0: 2.00, 1.00, –"
    box = legend.get_window_extent()
    assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1
    assert all(not box.overlaps(axes.get_window_extent()) for axes in figure.axes)
