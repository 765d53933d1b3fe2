"""Compiled kernels: who compiles them, for which processor, and what is told where nobody does."""

import os
import shutil
from pathlib import Path

import pytest
import torch
from torch import Tensor

from stages.experiment.experiment import choose_backend
from stages.model.cpu import library, processor
from stages.model.cpu.processor import COMPILERS, LIMIT, NATIVE, processor_class
from stages.model.ops import attend_varlen, dropout
from tests.support.tiny import SETTINGS, packing_of

TOLD = "KNOWLEDGE_ACCESS_TOLD_OF_KERNELS"


@pytest.mark.parametrize(
    ("compiler", "reason"),
    [
        (None, "no C++ compiler found (c++, g++, clang++)"),
        (b"\x7fELF", "Exec format error"),
        (b"\x7fELF", "no home folder; set XDG_CACHE_HOME"),
        (b"#!/bin/sh\necho 'kernels.cpp:1:1: error: No \x1b[1mspace' >&2; exit 1\n", "error: No \\x1b[1mspace"),
    ],
)
def test_what_is_lost_without_kernels_is_told_once_in_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    compiler: bytes | None,
    reason: str,
) -> None:
    for name in COMPILERS if compiler is not None else ():
        (tmp_path / name).write_bytes(compiler or b"")
        (tmp_path / name).chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv(TOLD, "")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    if "home" in reason:
        monkeypatch.delenv("XDG_CACHE_HOME")
        monkeypatch.setattr("os.path.expanduser", str)  # as in a container: no home is known

    for _ in range(2):
        assert library._libraries.__wrapped__() is None
    (line,) = capsys.readouterr().err.splitlines()
    lost = "kernels not compiled, so a training step takes 1.2 to 1.7 times as long: "
    assert line.startswith(lost) and reason in line
    assert os.environ[TOLD] and not (tmp_path / "~").exists()  # processes that this one starts say nothing


def attention(dtype: torch.dtype) -> list[Tensor]:
    """Attention and dropout, forward and backward: two sequences, two heads."""
    x = torch.randn(61, 144, generator=torch.Generator().manual_seed(1)).to(dtype).requires_grad_()
    torch.manual_seed(2)
    y = dropout(attend_varlen([x], [packing_of([[21, 40]])], (2, 2), 0.2, window=30), 0.2)
    return [y.detach(), *torch.autograd.grad(y.float().square().sum(), [x])]


@pytest.mark.skipif(processor_class(NATIVE) in ("float32-avx2", "other"), reason="nothing to be held back from")
@pytest.mark.skipif(library.identity() == "torch", reason="no C++ compiler here")
@pytest.mark.parametrize(("dtype", "bound"), [(torch.float32, 1e-6), (torch.bfloat16, 1e-2)])
def test_a_processor_held_back_computes_the_same_with_shorter_vectors(
    monkeypatch: pytest.MonkeyPatch, dtype: torch.dtype, bound: float
) -> None:
    wide = attention(dtype)
    own = library._libraries()
    monkeypatch.setenv(LIMIT, "AVX2" if processor_class() != "float32-avx2" else NATIVE)
    held_back = library._libraries.__wrapped__()
    assert own is not None and held_back is not None and held_back[0] != own[0]
    monkeypatch.setattr(library, "_libraries", lambda: held_back)
    for one, other in zip(wide, attention(dtype), strict=True):
        assert (one.double() - other.double()).norm() <= bound * one.double().norm()


@pytest.mark.skipif(library.identity() == "torch", reason="no C++ compiler here")
def test_what_was_compiled_is_found_and_compiled_anew_where_a_part_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "one.cpp"
    source.write_text('extern "C" int one() { return 1; }\n', encoding="utf-8")
    monkeypatch.setattr(library, "SOURCE", source)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    first, second = library._libraries.__wrapped__(), library._libraries.__wrapped__()
    next((tmp_path / "knowledge-access").glob("*.so")).unlink()
    third = library._libraries.__wrapped__()
    assert first[0] == second[0] == third[0]
    assert [library.one() for _, libraries in (first, second, third) for library in libraries.values()] == [1] * 6
    lines = capsys.readouterr().err.splitlines()
    compiled = f"kernels compiled for this processor ({processor_class()}) in "
    assert [line.startswith(compiled) for line in lines] == [True, True]


@pytest.mark.skipif(library.identity() == "torch", reason="no C++ compiler here")
def test_on_a_mac_torchs_openmp_serves_or_one_thread_and_a_line_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked, source, compiler = tmp_path / "asked", tmp_path / "one.cpp", tmp_path / "c++"
    source.write_text('extern "C" int one() { return 1; }\n', encoding="utf-8")
    # it refuses what Apple's does, and finds no library of torch's
    compiler.write_text(
        f'#!/bin/sh\necho "$*" >> {asked}\ncase "$*" in *libomp*|*-march*) echo error >&2; exit 1;; esac\n'
        f'for last; do :; done\nexec {shutil.which("c++")} -shared -fPIC {source} -o "$last"\n',
        encoding="utf-8",
    )
    compiler.chmod(0o755)
    monkeypatch.setenv("CXX", str(compiler))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("sys.platform", "darwin")
    monkeypatch.setattr("platform.machine", lambda: "arm64")
    libraries = library._libraries.__wrapped__()
    assert libraries is not None and [library.one() for library in libraries[1].values()] == [1, 1]
    first, *others = asked.read_text(encoding="utf-8").splitlines()
    assert f"-mcpu=native -Xclang -fopenmp {Path(torch.__file__).parent}/lib/libomp.dylib" in first
    assert not any(" -fopenmp " in line for line in others if "-Xclang" not in line)
    assert capsys.readouterr().err.endswith("has no OpenMP that serves, so the kernels run on one thread\n")


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
def test_the_class_is_the_processors_unless_a_limit_holds_it_back_and_auto_takes_bfloat16_where_it_multiplies_that(
    monkeypatch: pytest.MonkeyPatch, kind: str, limit: str, expected: str
) -> None:
    monkeypatch.setattr(processor, "processor_features", lambda: FEATURES[kind])
    monkeypatch.setenv(LIMIT, limit)
    assert processor_class() == expected
    compute = SETTINGS.compute.model_copy(update={"device": "cpu", "precision": "auto"})
    assert (choose_backend(compute).precision == "bfloat16") == (expected in ("amx", "avx512-bf16"))
