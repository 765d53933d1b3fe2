"""Stage `explore`: the attention exploration, figures and numbers."""

from pathlib import Path

from stages.exploration.figures import pictures
from stages.exploration.results import explore
from stages.settings import load
from stages.system.errors import command
from stages.system.files import new_folder, write_json, write_text


@command
def main() -> None:
    """Write data/exploration/: exploration.json and its figures."""
    exploration = explore(load().explore)
    with new_folder(Path("data/exploration")) as folder:
        write_json(folder / "exploration.json", exploration.figures)
        for name, picture in pictures(exploration).items():
            write_text(folder / name, picture)


if __name__ == "__main__":
    main()
