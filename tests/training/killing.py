"""A process that trains, kills the training at random moments and lets it go on, again and again.

It runs in a project's folder. Everything is imported once and each life of the training is a fork, because a life
then begins within a tenth of a second instead of seconds.
"""

import hashlib
import importlib
import json
import os
import random
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

import safetensors

LONGEST_LIFE = 12  # steps after which a training is killed, at most
LONGEST_DELAY = 0.02  # seconds after that, at most: some steps, so that no part of a step or of a write is spared


@dataclass
class Killings:
    """What happened: the steps done at each kill, and what each training that came to its end had published."""

    steps: list[int] = field(default_factory=list)
    published: list[str] = field(default_factory=list)


def steps_done(folder: Path, stage: str, name: str, steps: int) -> int:
    """The steps in the checkpoint of a training `name` in a project's folder; all `steps` where it has ended."""
    for work in (folder / "work").glob(f"{stage}-*"):
        try:
            with safetensors.safe_open(work / f"{name}.checkpoint", framework="np") as file:
                return int(json.loads(file.metadata()["facts"])["steps"])
        except FileNotFoundError:
            if (work / f"{name}.json").exists():  # looked for last: in between it may have ended
                return steps
    return 0


def sum_of_steps(folder: Path, stage: str, trainings: dict[str, int]) -> int:
    """The steps done of all trainings of a stage, given by name with their steps."""
    return sum(steps_done(folder, stage, name, steps) for name, steps in trainings.items())


def fingerprint(output: Path) -> str:
    """One hash of all weights and curves in a folder."""
    digest = hashlib.sha256()
    for path in sorted(path for path in output.iterdir() if path.suffix in (".safetensors", ".csv")):
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def begin(main: Callable[[], None]) -> int:
    """Run a stage in a process of its own: its id."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        main()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def kill_again_and_again(main: Callable[[], None], position: Callable[[], int], output: Path, kills: int) -> Killings:
    """Kill a stage so many times, then let it end; whenever it published, delete what it trained and begin anew."""
    moments = random.Random(0)
    seen = Killings()
    while True:
        begun_at, before = position(), _written(output)
        reached = lowest = begun_at
        last = len(seen.steps) == kills
        target = begun_at + moments.randrange(LONGEST_LIFE)
        child, status = begin(main), None
        while status is None and (last or reached < target):
            time.sleep(0.001)
            reached = position()
            lowest = min(lowest, reached)
            ended, code = os.waitpid(child, os.WNOHANG)
            status = code if ended else None
        if status is None:
            time.sleep(moments.uniform(0, LONGEST_DELAY))
            os.kill(child, signal.SIGKILL)
            status = os.waitpid(child, 0)[1]
        if os.WIFSIGNALED(status):
            seen.steps.append(position())
        else:
            assert status == 0, "the stage failed"
        if _written(output) not in (0, before):
            seen.published.append(fingerprint(output))
            if last:
                return seen
            shutil.rmtree("work")
        else:
            lowest = min(lowest, position())
            assert lowest >= begun_at, f"began anew: at {begun_at} steps before, at {lowest} in between"


def _written(output: Path) -> int:
    """When results were published; 0 if never."""
    try:
        return (output / "provenance.json").stat().st_mtime_ns
    except FileNotFoundError:
        return 0


if __name__ == "__main__":
    stage, trainings, output, kills, sys.argv = json.loads(sys.argv[1])
    done = partial(sum_of_steps, Path.cwd(), stage, trainings)
    importlib.import_module("torch._dynamo")  # half a second that torch's optimizers take when first made
    main = importlib.import_module(f"stages.{stage}").main
    print(json.dumps(asdict(kill_again_and_again(main, done, Path(output), kills))))
