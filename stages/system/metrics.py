"""DVC's metrics: a file a stage at a fixed path, with few keys: `dvc metrics show` prints a column a key."""

from pathlib import Path

from stages.system.files import write_json

FOLDER = Path("metrics")
DIGITS = 3


def write_metrics(stage: str, **figures: float) -> None:
    """Write the figures of a stage, percents or nats a character."""
    rounded = {name: round(figure, DIGITS) for name, figure in figures.items()}
    write_json(FOLDER / f"{stage}.json", rounded)
