"""The processor classes that this machine can run as, each in a process of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from stages.model.cpu.processor import CLASSES, processor_class
from stages.settings import Compute
from stages.system.errors import StudyError

CUDA = "cuda"
# What holds a faster processor to a class: oneDNN, MKL (on Intel's processors) and torch's own loops read these
# when they start; the compiled kernels and torch.compile follow
ENVIRONMENTS = {
    "avx512-bf16": {
        "ONEDNN_MAX_CPU_ISA": "AVX512_CORE_BF16",
        "MKL_ENABLE_INSTRUCTIONS": "AVX512_E3",
        "ATEN_CPU_CAPABILITY": "avx512",
    },
    "avx512": {
        "ONEDNN_MAX_CPU_ISA": "AVX512_CORE",
        "MKL_ENABLE_INSTRUCTIONS": "AVX512",
        "ATEN_CPU_CAPABILITY": "avx512",
    },
    "float32-avx2": {
        "ONEDNN_MAX_CPU_ISA": "AVX2",
        "MKL_ENABLE_INSTRUCTIONS": "AVX2",
        "ATEN_CPU_CAPABILITY": "avx2",
    },
}
ROOT = Path(__file__).parents[2]
COMPILED = Path("work/benchmark")  # what torch.compile keeps, a folder a class: its own cache tells none from another


def own_class(compute: Compute) -> str:
    """What the machine is, unless it is held to less: cuda, or the class of its processor."""
    return CUDA if compute.device != "cpu" and torch.cuda.is_available() else processor_class()


def possible_classes(compute: Compute) -> list[str]:
    """What the machine can run as, the fastest first; on a GPU that alone, unless the device is cpu."""
    own, slower = processor_class(), list(CLASSES)
    on_cpu = [own, *slower[slower.index(own) + 1 :]] if own in slower else [own]
    return [CUDA, *on_cpu] if own_class(compute) == CUDA else on_cpu


def chosen_classes(compute: Compute, asked: Sequence[str] | None) -> list[str]:
    """Those asked for, else all of the device's.

    Raises:
        StudyError: this machine cannot run as one of them.
    """
    possible = possible_classes(compute)
    for name in asked or []:
        if name not in possible:
            raise StudyError(f"--classes: was {name!r}; this machine can run as {', '.join(possible)}")
    return list(asked or ([CUDA] if CUDA in possible else possible))


def environment(name: str) -> dict[str, str]:
    """The environment of the class's process: that of this one where the class is the processor's own."""
    held = {} if name in (CUDA, processor_class()) else ENVIRONMENTS[name]
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": path, "TORCHINDUCTOR_CACHE_DIR": str((COMPILED / name).resolve()), **held}


class ClassProcess:
    """A process that times what it is asked to, as a machine of one class; requests and answers are lines of JSON."""

    def __init__(self, name: str, recipe: str) -> None:
        self.name = name
        device = CUDA if name == CUDA else "cpu"
        command = [sys.executable, "-m", "tests.benchmark.worker", recipe, device]
        self.process = subprocess.Popen(
            command, env=environment(name), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, **request: Any) -> Any:
        """The process's answer.

        Raises:
            StudyError: it has ended; what it wrote to stderr, which is this one's, tells why.
        """
        assert self.process.stdin and self.process.stdout
        try:
            print(json.dumps(request), file=self.process.stdin, flush=True)
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            raise StudyError(f"the process of class {self.name} ended; see above")
        return json.loads(answer)

    def close(self) -> None:
        """Let it end."""
        assert self.process.stdin and self.process.stdout
        self.process.kill()
        self.process.communicate()
