"""Stage `world`: the synthetic world's files, in the form of the real ones, and a larger world's pages as a text."""

from pathlib import Path

from stages.settings import load
from stages.sources.world.generation import generate, write
from stages.system.errors import Parser, command
from stages.system.files import write_text


@command
def main() -> None:
    """Generate data/raw/synthetic from `sources.synthetic`, and data/raw/world.txt with `sources.text.people`."""
    Parser(description=main.__doc__).parse_args()
    sources = load().sources
    world = generate(sources.synthetic)
    people = sources.synthetic.people.model_copy(update={"train": sources.text.people, "dev": 0, "test": 0})
    larger = generate(sources.synthetic.model_copy(update={"people": people}))
    write(world, Path("data/raw/synthetic"))
    write_text(Path("data/raw/world.txt"), "".join(f"{person.page}\n" for person in larger.people))
    print(f"a world of {len(world.people)} people; the first page: {world.people[0].page}")


if __name__ == "__main__":
    main()
