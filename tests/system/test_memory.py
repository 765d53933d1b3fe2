"""Memory that a process may take: the least of the machine's and what is written in the files of its groups."""

from pathlib import Path

import psutil
import pytest

from stages.system.memory import machine_memory

MACHINE = psutil.virtual_memory().total
GIB = 2**30


@pytest.mark.parametrize(
    ("groups", "files", "memory"),
    [
        (None, {}, MACHINE),  # not Linux
        ("0::/\n", {}, MACHINE),
        ("0::/\n", {"memory.max": "max"}, MACHINE),
        ("0::/\n", {"memory.max": f"{GIB}\n"}, GIB),  # a container that sees its group as the root
        ("0::/a/b\n", {"a/b/memory.max": "max", "a/memory.max": f"{GIB}"}, GIB),  # a job's step, its limit above
        ("5:memory:/job_7\n", {"memory/job_7/memory.limit_in_bytes": f"{GIB}"}, GIB),
        ("5:memory:/docker/x\n", {"memory/memory.limit_in_bytes": f"{GIB}"}, GIB),  # the host's name of the group
        ("5:memory:/\n", {"memory/memory.limit_in_bytes": "9223372036854771712"}, MACHINE),  # version 1: no limit
        ("4:cpu:/job_7\n", {"cpu/job_7/memory.max": "1"}, MACHINE),
    ],
)
def test_the_least_limit_counts(tmp_path: Path, groups: str | None, files: dict[str, str], memory: int) -> None:
    if groups is not None:
        (tmp_path / "cgroup").write_text(groups)
    for name, text in files.items():
        file = tmp_path / "fs" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    assert machine_memory(tmp_path / "cgroup", tmp_path / "fs") == memory
