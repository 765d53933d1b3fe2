"""Which class a processor runs as: what it has, and oneDNN's own limit where that is one."""

import pytest

from stages.model.cpu import processor
from stages.model.cpu.processor import LIMIT, processor_class

FEATURES = {
    "amx": "avx2 avx512vl avx512_bf16 amx_bf16",
    "avx512-bf16": "avx2 avx512vl avx512_bf16",
    "avx512": "avx2 avx512vl",
    "float32-avx2": "avx2 fma",
    "other": "asimd bf16",
}


@pytest.mark.parametrize(
    ("kind", "limit", "expected"),
    [
        *((kind, limit, kind) for kind in FEATURES for limit in ("", "DEFAULT", "typo")),
        ("amx", "AVX512_CORE_AMX", "amx"),
        ("amx", "AVX512_CORE_FP16", "avx512-bf16"),
        ("amx", "AVX512_CORE_VNNI", "avx512"),
        ("amx", "avx2", "float32-avx2"),
        ("amx", "SSE41", "other"),
    ],
)
def test_the_class_is_the_processors_unless_a_limit_holds_it_back(
    monkeypatch: pytest.MonkeyPatch, kind: str, limit: str, expected: str
) -> None:
    monkeypatch.setattr(processor, "processor_features", lambda: FEATURES[kind])
    monkeypatch.setenv(LIMIT, limit)
    assert processor_class() == expected
