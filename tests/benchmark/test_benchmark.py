"""A run of the benchmark on a tiny model, and its file; no figure of time is asserted."""

import json
from pathlib import Path

import pytest

from stages.model.cpu.processor import processor_class, processor_name
from tests.benchmark import __main__ as benchmark
from tests.support.pages import TEXTS
from tests.support.project import save_prepared, small, write_params
from tests.support.talking import Run
from tests.support.tiny import COMPARED, ROOT


def test_a_run_times_variants_and_keeps_other_rows(tmp_path: Path, run_in: Run) -> None:
    few = {"recipes.quick.pretrain.batch_size": 4, "recipes.quick.generation.max_characters": 3}
    write_params(tmp_path, small, few)
    save_prepared(tmp_path / "data/prepared/quick")
    own = {"processor": processor_name(), "class": processor_class(), "recipe": "quick", "variant": "vanilla"}
    other = own | {"processor": "another"}
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports/benchmark.json").write_text(json.dumps({"notes": {}, "rows": [own, other]}))
    printed = run_in(tmp_path, benchmark, "--rounds", "1", "--recipes", "quick").out

    rows = json.loads((tmp_path / "reports/benchmark.json").read_text())["rows"]
    rows.remove(other)
    assert [(row["recipe"], row["variant"]) for row in rows] == [("quick", "vanilla"), ("quick", "rope")]
    for row in rows:
        ratio = row["plain"]["median"] / row["study"]["median"]
        assert row["study_over_plain"] == pytest.approx(ratio, rel=0.05)
    assert len(printed.splitlines()) == 2


def test_the_table_of_the_docs_has_the_figures_of_the_committed_file() -> None:
    content = json.loads((ROOT / "reports/benchmark.json").read_text(encoding="utf-8"))
    rows = {(row["class"], row["variant"]): row for row in content["rows"] if row["recipe"] == "handout"}
    expected = []
    for variant in COMPARED:
        pair = [rows[name, variant] for name in ("avx512-bf16", "float32-avx2")]
        times = [", ".join(f"{row[side]['median']:.2f}" for row in pair) for side in ("plain", "compiled", "study")]
        ratios = [", ".join(f"{row[f'study_over_{side}']:.1f}" for row in pair) for side in ("plain", "compiled")]
        peak = ", ".join(f"{100 * row['share_of_gemm_peak']:.0f}" for row in pair)
        expected.append(f"| {variant} | {' | '.join([*times, *ratios, peak])} |")
    assert [line for line in expected if line not in TEXTS["docs/performance.md"]] == []
