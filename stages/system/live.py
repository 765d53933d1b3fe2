"""work/live/index.html: what trains and has trained, as a page that refreshes itself, without a server.

Every training keeps a record beside the page, and writes the page from all records. A kill leaves both as they were.
"""

import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import StrictUndefined, Template

from stages.system.errors import StudyError
from stages.system.files import read_json, write_json, write_text
from stages.system.locks import WORK, locked

TEMPLATE = Path(__file__).with_name("live.html.jinja")
PAGE = WORK / "live" / "index.html"
EVERY = 2.0  # seconds between two writes, at least
RECENT = 30.0  # seconds: a training with an older record no longer runs
POINTS = 80  # most points of a curve
STEPS = 50  # a point is the mean of so many steps or more
MOST = 300  # records that are kept
SIZE = {"width": 640, "height": 220}  # of a figure
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#777777")  # Okabe and Ito's


@dataclass
class Live:
    """What the page shows of one training of a recipe."""

    recipe: str
    variant: str
    phase: str
    seed: int
    trainings: int  # of its recipe, in each phase
    phases: dict[str, int]  # the steps of one training of each
    written: float = 0.0

    def tell(self, losses: np.ndarray, steps: int, seconds: float) -> None:
        """Write the losses (done,) so far, of `steps` steps, and the seconds taken; at most once in EVERY seconds."""
        done = len(losses)
        if not done or (done < steps and time.time() - self.written < EVERY):
            return
        self.written = time.time()
        curve = [round(float(part.mean()), 4) for part in np.array_split(losses, min(POINTS, -(-done // STEPS)))]
        name = f"{self.recipe}-{self.variant}-{self.phase}-{self.seed}.json"
        # a full disk, another writer or another version's record does not stop a training
        with suppress(OSError, StudyError, ValueError, LookupError, TypeError):
            progress = {"done": done, "steps": steps, "seconds": seconds, "curve": curve}
            write_json(PAGE.with_name(name), asdict(self) | progress)
            with locked(PAGE.with_name("lock")):
                write_text(PAGE, page(records()))


def records() -> list[dict[str, Any]]:
    """Read the latest records, the latest first; older ones are deleted."""
    paths = sorted(PAGE.parent.glob("*.json"), key=lambda path: path.stat().st_mtime)
    for path in paths[:-MOST]:
        path.unlink()
    return [read_json(path) for path in reversed(paths[-MOST:])]


def page(trainings: list[dict[str, Any]]) -> str:
    """Return the page: the time to go for the latest record's recipe, and a figure for each recipe and phase.

    A figure has the latest trainings, as many as are to be done: the others are of an earlier study.
    """
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for training in trainings:
        shown = groups.setdefault((training["recipe"], training["phase"]), [])
        of_one_study = all(training[key] == other[key] for other in shown[:1] for key in ("trainings", "steps"))
        if of_one_study and len(shown) < training["trainings"]:
            shown.append(training)
    latest, whole = trainings[0], 0.0
    for phase, steps in latest["phases"].items():
        group = groups.get((latest["recipe"], phase))
        whole += to_go(group) if group else to_go(groups[latest["recipe"], latest["phase"]], steps)
    colours = dict(zip(sorted({training["variant"] for training in trainings}), cycle(COLOURS)))
    template = Template(TEMPLATE.read_text("utf-8"), undefined=StrictUndefined, autoescape=True)
    return template.render(groups=groups, colours=colours, whole=whole, to_go=to_go, curves=curves, **SIZE)


def to_go(group: list[dict[str, Any]], steps: int | None = None) -> float:
    """Return the seconds until all trainings of a group end; steps: those of a later phase, at the same pace."""
    pace = sum(training["seconds"] / training["done"] for training in group) / len(group)
    done = 0 if steps else sum(training["done"] for training in group)
    left = group[0]["trainings"] * (steps or group[0]["steps"]) - done
    recent = time.time() - RECENT
    running = [training for training in group if training["written"] > recent and training["done"] < training["steps"]]
    return left * pace / max(1, len(running))


def curves(group: list[dict[str, Any]]) -> list[str]:
    """Return the points of a group's curves: steps to the right, the logarithm of the loss upward."""
    logs = [np.log(np.array(training["curve"]) + 1e-4) for training in group]
    points = np.concatenate(logs)
    low, high = points.min(), points.max()
    lines = []
    for training, losses in zip(group, logs, strict=True):
        right = SIZE["width"] * training["done"] / training["steps"] / len(losses)
        heights = SIZE["height"] * (high - losses) / (high - low + 1e-9)
        lines.append(" ".join(f"{right * at:.1f},{height:.1f}" for at, height in enumerate(heights, 1)))
    return lines
