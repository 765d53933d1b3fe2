"""Stage `world`: the synthetic world's files, in the form of the real ones."""

from pathlib import Path

from stages.settings import load
from stages.sources.world.generation import generate, write
from stages.system.errors import command


@command
def main() -> None:
    """Generate data/raw/synthetic from the settings `sources.synthetic`."""
    world = generate(load().sources.synthetic)
    write(world, Path("data/raw/synthetic"))
    print(f"a world of {len(world.people)} people; the first page: {world.people[0].page}")


if __name__ == "__main__":
    main()
