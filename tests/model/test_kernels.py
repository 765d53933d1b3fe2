"""Compiled kernels: where nothing compiles them torch serves, and a compiler that fails is told of."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from stages.model.cpu import kernels
from stages.model.cpu.kernels import COMPILERS

Compilers = Callable[[bytes | None], str]


@pytest.fixture
def said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Compilers:
    """What is said where the only compilers are this file, and no kernels come of it."""

    def said_with(compiler: bytes | None) -> str:
        for name in COMPILERS if compiler is not None else ():
            (tmp_path / name).write_bytes(compiler or b"")
            (tmp_path / name).chmod(0o755)
        kernels._tell.cache_clear()
        for dtype in (torch.float32, torch.bfloat16):
            assert kernels._library.__wrapped__(dtype) is None
        return capsys.readouterr().err

    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return said_with


def test_without_a_compiler_nothing_is_said(said: Compilers) -> None:
    assert said(None) == ""


@pytest.mark.parametrize(
    ("compiler", "reason"),
    [
        (b"\x7fELF", "Exec format error"),
        (b"#!/bin/sh\necho 'kernels.cpp:1:1: error: No space left' >&2; exit 1\n", "error: No space left"),
    ],
)
def test_a_compiler_that_fails_is_told_of_in_one_line(said: Compilers, compiler: bytes, reason: str) -> None:
    (line,) = said(compiler).splitlines()
    assert line.startswith("kernels not compiled, so torch's operations serve, more slowly: ") and reason in line


def test_switched_off_kernels_do_not_serve() -> None:
    kernels.use_kernels(False)
    try:
        assert kernels.identity() == "torch"
        assert not kernels.serve(torch.zeros(1))
    finally:
        kernels.use_kernels(True)
