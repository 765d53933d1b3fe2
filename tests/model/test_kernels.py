"""Compiled kernels: where nothing compiles them torch serves, and a compiler that fails is told of."""

import os
import subprocess
import sys
from pathlib import Path

from stages.model.cpu.kernels import COMPILERS
from tests.project import ROOT

QUESTION = """
import torch
from stages.model.cpu.kernels import identity, serve
serve(torch.zeros(1).bfloat16())
print(identity())
"""


def identity_with(folder: Path, compiler: str | None) -> tuple[str, str]:
    """What computes, and what is said, where the only compiler is this script."""
    if compiler is not None:
        for name in COMPILERS:
            (folder / name).write_text(f"#!/bin/sh\n{compiler}\n", encoding="utf-8")
            (folder / name).chmod(0o755)
    environment = {key: value for key, value in os.environ.items() if key != "CXX"}
    environment |= {"PATH": str(folder), "XDG_CACHE_HOME": str(folder / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", QUESTION], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.strip(), done.stderr


def test_without_a_compiler_torch_serves_and_nothing_is_said(tmp_path: Path) -> None:
    assert identity_with(tmp_path, None) == ("torch", "")


def test_a_compiler_that_does_not_start_is_told_of_as_that(tmp_path: Path) -> None:
    for name in COMPILERS:
        (tmp_path / name).write_bytes(b"\x7fELF")
        (tmp_path / name).chmod(0o755)
    name, said = identity_with(tmp_path, None)
    assert name == "torch"
    assert said.splitlines() == [
        "kernels not compiled, so torch's operations serve, more slowly: "
        f"{tmp_path / COMPILERS[-1]} does not start: Exec format error"
    ]


def test_a_compiler_that_fails_is_told_of_in_one_line(tmp_path: Path) -> None:
    compiler = "echo 'kernels.cpp:1:1: error: No space left on device' >&2; exit 1"
    name, said = identity_with(tmp_path, compiler)
    assert name == "torch"
    assert said == (
        "kernels not compiled, so torch's operations serve, more slowly: "
        "kernels.cpp:1:1: error: No space left on device\n"
    )
