"""Stage `text`: any plain text, checked, for the recipes without questions."""

from pathlib import Path

from stages.settings import TEXT_FILE, load
from stages.sources.reading import read_text
from stages.system.errors import Parser, StudyError, command
from stages.system.files import new_folder, write_text


@command
def main() -> None:
    """Copy the file that `sources.text` names to data/raw/text."""
    Parser(description=main.__doc__).parse_args()
    path = Path(load().sources.text.path)
    if not path.exists():
        raise StudyError(f"params.yaml: sources.text.path: there is no file {path}; name one in UTF-8")
    text = read_text(path)
    with new_folder(Path("data/raw/text")) as folder:
        write_text(folder / TEXT_FILE, text)
    print(f"a text of {len(text)} characters, {len(set(text))} different ones")


if __name__ == "__main__":
    main()
