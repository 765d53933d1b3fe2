"""A run of the benchmark on a tiny model, its arithmetic, and the file; no figure of time is asserted."""

import json
from pathlib import Path
from typing import Any

import pytest

from stages.model.cpu.processor import processor_class, processor_name
from tests.benchmark import __main__ as benchmark
from tests.support.pages import TEXTS, rows_of
from tests.support.project import with_sums, write_params
from tests.support.tiny import COMPARED, ROOT, tiny_prepared

SECONDS = {
    "plain": [3.0, 5.0, 4.0],
    "compiled": [2.0],
    "study": [0.5, 0.4, 0.6],
    "product": [0.1],  # a peak of 4e10 operations a second
    "question": [0.1],
    "questions": [2.0],
}


def test_a_row_tells_medians_ratios_and_shares() -> None:
    figures = benchmark.compared(SECONDS, flop=12e9, product_flop=4e9, questions=500)
    assert figures["plain"] == {"median": 4.0, "min": 3.0, "max": 5.0}
    assert (figures["study_over_plain"], figures["study_over_compiled"]) == (8, 4)
    assert figures["share_of_gemm_peak"] == 0.6  # 12e9 operations take 0.3 s at the peak
    assert figures["questions"]["plain"]["median"] == 50 and figures["questions"]["study_over_plain"] == 25


def test_a_run_times_variants_on_two_recipes_and_keeps_other_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def shrink(content: dict[str, Any]) -> None:
        content["compute"]["device"] = "cpu"
        content["study"]["compared"] = ["vanilla", "perceiver"]
        for name in ("quick", "handout"):
            recipe = content["recipes"][name]
            recipe["model"] |= {"layers": 2, "heads": 2, "width": 16}
            recipe["pretrain"]["batch_size"] = 4
            recipe["pretrain"]["schedule"]["warmup_tokens"] = 100
            recipe["generation"]["max_characters"] = 3

    write_params(tmp_path, shrink)
    for name in ("quick", "handout"):
        tiny_prepared().save(tmp_path / "data" / "prepared" / name)
        with_sums(tmp_path / "data" / "prepared" / name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["benchmark", "--rounds", "1"])
    own = {"processor": processor_name(), "class": processor_class(), "recipe": "quick", "variant": "vanilla"}
    other = own | {"processor": "another"}
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports/benchmark.json").write_text(json.dumps({"notes": {}, "rows": [own, other]}))
    benchmark.main()

    rows = json.loads((tmp_path / "reports/benchmark.json").read_text())["rows"]
    rows.remove(other)
    cells = [(recipe, variant) for recipe in ("quick", "handout") for variant in ("vanilla", "perceiver")]
    assert [(row["recipe"], row["variant"]) for row in rows] == cells
    for row in rows:
        ratio = row["plain"]["median"] / row["study"]["median"]
        assert row["study_over_plain"] == pytest.approx(ratio, rel=0.05)
    assert len(capsys.readouterr().out.splitlines()) == len(cells)


def test_the_table_of_the_docs_has_the_figures_of_the_committed_file() -> None:
    content = json.loads((ROOT / "reports/benchmark.json").read_text(encoding="utf-8"))
    rows = {(row["class"], row["variant"]): row for row in content["rows"] if row["recipe"] == "handout"}
    expected = []
    for variant in COMPARED:
        pair = [rows[name, variant] for name in ("avx512-bf16", "float32-avx2")]
        times = [", ".join(f"{row[side]['median']:.2f}" for row in pair) for side in ("plain", "compiled", "study")]
        ratios = [", ".join(f"{row[f'study_over_{side}']:.1f}" for row in pair) for side in ("plain", "compiled")]
        expected.append([variant, *times, *ratios, ", ".join(f"{row['share_of_gemm_peak']:.0%}"[:-1] for row in pair)])
    assert rows_of(TEXTS["docs/performance.md"], "| variant | plain | compiled") == expected
