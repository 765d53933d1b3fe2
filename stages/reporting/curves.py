"""Loss curves made small: a subset of the rows for the table, means of stretches for the picture."""

import numpy as np
import numpy.typing as npt
import pandas as pd

Curve = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]


def thin(curves: pd.DataFrame, points: int = 200) -> pd.DataFrame:
    """Return at most `points` evenly spaced rows of each variant's seed and phase, first and last kept."""
    kept = []
    for _, rows in curves.groupby(["variant", "seed", "phase"], sort=False):
        spread = np.linspace(0, len(rows) - 1, min(len(rows), points))
        kept.append(rows.iloc[spread.round().astype(np.intp)])
    return pd.concat(kept, ignore_index=True)


def seed_curves(curves: pd.DataFrame, variant: str, phase: str, points: int = 60) -> list[Curve]:
    """Return one curve (epochs, losses) per seed, all on the same epochs; none where the phase was not logged.

    The logged losses of a step are noisy: each point is the mean over a stretch of the run.
    """
    rows = curves[(curves["variant"] == variant) & (curves["phase"] == phase)]
    stretches: list[Curve] = []
    for _, seed in rows.groupby("seed", sort=True):
        ordered = seed[["epoch", "loss"]].astype(float).sort_values("epoch", kind="stable")
        parts = min(points, len(ordered))
        epochs, losses = (
            np.array([part.mean() for part in np.array_split(ordered[column].to_numpy(), parts)])
            for column in ("epoch", "loss")
        )
        stretches.append((epochs, losses))
    if not stretches:
        return []
    start, end = max(epochs[0] for epochs, _ in stretches), min(epochs[-1] for epochs, _ in stretches)
    grid = np.linspace(start, end, min(points, max(len(epochs) for epochs, _ in stretches)))
    return [(grid, np.interp(grid, epochs, losses)) for epochs, losses in stretches]
