"""A unit of work, a stage or one seed of it, in a clone of its own: what a worker runs in the snapshot's folder.

It prints the stage's entry in the lock. All other output is in work/logs/<unit>.log.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import stages
from stages.scheduling.home import REASON, environment
from stages.scheduling.lock import cell_of, entry_of, name_of
from stages.system.errors import Parser, StudyError, command

SNAPSHOT = Path("params.yaml")  # is gone when the snapshot, in whose folder the unit begins, is deleted
LOOK_EVERY = 0.2  # seconds
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")  # Dask sets them to one


@command
def main() -> None:
    """Complete the unit from exactly the outputs that the snapshot's lock names."""
    parser = Parser(description=__doc__)
    parser.add_argument("stage", help="as `dvc repro` names it")
    parser.add_argument("--seed", help="train this one only")
    parser.add_argument("--threads", required=True)
    given = parser.parse_args()
    stage: str = given.stage
    log = Path("work", "logs", name_of(stage) + (f"-seed-{given.seed}" if given.seed else "") + ".log").resolve()
    log.parent.mkdir(exist_ok=True)

    with TemporaryDirectory(prefix="study-") as name:
        clone = Path(name, "clone")
        shutil.copytree(".", clone, symlinks=True, ignore=shutil.ignore_patterns("__pycache__", "*.partial"))
        env = environment(
            DVC_SITE_CACHE_DIR=str(clone / ".dvc" / "tmp" / "site"), **dict.fromkeys(THREADS, given.threads)
        )
        run(clone, env, log, "dvc", "checkout", "--force", "--quiet", "--allow-missing", "--with-deps", stage)
        if not given.seed:
            run(clone, env, log, "dvc", "repro", "--single-item", stage)
        elif subprocess.run(["dvc", "status", "--quiet", stage], cwd=clone, env=env).returncode:  # it is out of date
            kind, recipe, variant = cell_of(stage)
            options = ("--recipe", recipe, "--variant", variant, "--seed", given.seed)
            run(clone, env, log, "python", "-m", f"stages.{kind}", *options)
        print(json.dumps(entry_of(clone, stage)))


def run(clone: Path, env: dict[str, str], log: Path, *command: str) -> None:
    """Run a command in the clone until it ends, or the worker or the snapshot is gone: then Ctrl-C ends it.

    Raises StudyError: it failed; the line names the log and has the end of the output.
    """
    # a worker in the background ignores Ctrl-C, and so would what it starts
    signal.signal(signal.SIGINT, signal.default_int_handler)
    start = log.stat().st_size if log.exists() else 0
    with log.open("ab") as output:
        process = subprocess.Popen(
            command, cwd=clone, env=env, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
        )
        try:
            while process.poll() is None:
                if os.getppid() != stages.STARTED_BY or not SNAPSHOT.exists():
                    raise KeyboardInterrupt
                time.sleep(LOOK_EVERY)
        except KeyboardInterrupt:
            os.killpg(process.pid, signal.SIGINT)  # DVC waits for its stage, and a training writes a checkpoint
            process.wait()
            raise

    if process.returncode:
        lines = log.read_bytes()[start:].decode(errors="replace").split("\n")
        reason = [line for line in lines if line.startswith("error: ")] or list(filter(None, lines))[-REASON:]
        raise StudyError(f"{socket.gethostname()}: {log}: {'; '.join(reason)}")


if __name__ == "__main__":
    main()
