"""Stage `fetch`: the four CS224N files, from where CS224N_DATA says, else from the addresses in params.yaml."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from stages.settings import load
from stages.sources.download import read_source
from stages.system.errors import Parser, StudyError, command
from stages.system.files import write_bytes
from stages.system.terminal import say

FOLDER = Path("data/raw/cs224n")
ADVICE = "set CS224N_DATA to a folder, a zip or a URL with the four files"


def obtain(source: str | None, folder: Path, addresses: Sequence[str], sha256: Mapping[str, str]) -> str:
    """Put the files named in `sha256` into `folder`, and return a line that says what was done.

    source: as for `read_source`; without one `folder` itself is tried, then the addresses in order. Nothing is written
    before all files are verified; other files in `folder` stay. Raises StudyError: no source has the files.
    """
    source = (source or "").strip()
    files, origin = _first_that_serves([source] if source else [str(folder), *addresses], sha256)
    if all((folder / name).is_file() and (folder / name).read_bytes() == files[name] for name in files):
        return f"{folder} already holds the four files: nothing to do"
    for name, content in files.items():
        write_bytes(folder / name, content)
    return f"{folder} now holds the four files of {'CS224N_DATA' if source else origin}, checksums verified"


def _first_that_serves(sources: Sequence[str], sha256: Mapping[str, str]) -> tuple[dict[str, bytes], str]:
    """Read the files from the first source that has them, and name it. Raises StudyError: none has."""
    failures = []
    for source in sources:
        try:
            return read_source(source, sha256), source
        except StudyError as error:
            failures.append(str(error))
    what = failures[-1]
    if len(sources) > 1:
        what = f"CS224N_DATA is not set and no address of sources.cs224n.addresses serves; the last: {what}"
        what = f"{failures[0]}; {what}" if Path(sources[0]).is_dir() else what
    raise StudyError(f"{what}; {ADVICE}")


@command
def main() -> None:
    """Obtain the four CS224N files, verify their checksums and write them to data/raw/cs224n."""
    Parser(description=main.__doc__, epilog=ADVICE).parse_args()
    settings = load().sources.cs224n
    say(obtain(os.environ.get("CS224N_DATA"), FOLDER, settings.addresses, settings.sha256))


if __name__ == "__main__":
    main()
