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


@pytest.mark.parametrize("kind", FEATURES)
@pytest.mark.parametrize("limit", [None, "", "ALL", "DEFAULT", "typo"])
def test_without_a_limit_the_class_is_the_processors(
    monkeypatch: pytest.MonkeyPatch, kind: str, limit: str | None
) -> None:
    monkeypatch.setattr(processor, "processor_features", lambda: FEATURES[kind])
    if limit is None:
        monkeypatch.delenv(LIMIT, raising=False)
    else:
        monkeypatch.setenv(LIMIT, limit)
    assert processor_class() == kind


@pytest.mark.parametrize(
    ("limit", "kind"),
    [
        ("AVX512_CORE_AMX", "amx"),
        ("AVX512_CORE_BF16", "avx512-bf16"),
        ("AVX512_CORE_FP16", "avx512-bf16"),
        ("AVX512_CORE_VNNI", "avx512"),
        ("avx2", "float32-avx2"),
        ("AVX2_VNNI", "float32-avx2"),
        ("SSE41", "other"),
    ],
)
def test_a_limit_holds_a_processor_back(monkeypatch: pytest.MonkeyPatch, limit: str, kind: str) -> None:
    monkeypatch.setattr(processor, "processor_features", lambda: FEATURES["amx"])
    monkeypatch.setenv(LIMIT, limit)
    assert processor_class() == kind
