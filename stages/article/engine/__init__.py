"""The model in plain JavaScript: what the page runs, in the order in which it is read."""

from pathlib import Path

NAMES = ("tensors", "model", "answer")
SCRIPTS = [(Path(__file__).parent / f"{name}.js").read_text("utf-8") for name in NAMES]
