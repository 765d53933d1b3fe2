"""Obtain the four CS224N files: `python -m stages.fetch`.

They come from where the environment variable CS224N_DATA says (a folder, a zip file or the address of one),
else from the addresses in params.yaml, and are written to data/raw/cs224n once their checksums are verified.
"""

import argparse
import hashlib
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from stages.settings import load
from stages.sources.download import ADVICE, read_address, read_folder, read_source
from stages.system.errors import StudyError, command
from stages.system.files import new_folder, write_bytes

FOLDER = Path("data/raw/cs224n")


def obtain(source: str | None, folder: Path, addresses: Sequence[str], sha256: Mapping[str, str]) -> str:
    """Bring `folder` to hold the files named in `sha256`, and say what was done.

    In: `source`, a folder, a zip file or an http(s) address of one; None or blank to take what `folder`
    holds already or else the first of the `addresses` that serves; `sha256`, file name → checksum of the
    content with LF line ends and one final newline.
    Out: one line for the user. The four files are replaced together or not at all; others in `folder` stay.
    Raises StudyError: the source, or every address, is unreadable or lacks a file or holds another.
    """
    source = (source or "").strip()
    if source:
        files, origin = read_source(source, sha256), "CS224N_DATA"
    elif _holds(folder, sha256):
        return f"{folder} already holds the four files: nothing to do"
    else:
        files, origin = _search(folder, addresses, sha256)
    if _holds(folder, sha256):
        return f"{folder} already holds the four files of {origin}: nothing to do"
    with new_folder(folder) as fresh:
        if folder.is_dir():
            shutil.copytree(folder, fresh, symlinks=True, dirs_exist_ok=True, ignore=shutil.ignore_patterns(*sha256))
        for name, content in files.items():
            write_bytes(fresh / name, content)
    return f"{folder} now holds the four files of {origin}, checksums verified"


def _holds(folder: Path, sha256: Mapping[str, str]) -> bool:
    paths = {folder / name: checksum for name, checksum in sha256.items()}
    return all(
        path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == checksum for path, checksum in paths.items()
    )


def _search(folder: Path, addresses: Sequence[str], sha256: Mapping[str, str]) -> tuple[dict[str, bytes], str]:
    """The files and their origin: a copy put in `folder` by hand, else the first address that serves."""
    try:
        return read_folder(folder, sha256), str(folder)
    except StudyError:  # the usual case: there is nothing yet
        pass
    failures: list[str] = []
    for address in addresses:
        if sys.stderr.isatty():  # someone waits; a log needs the outcome alone
            print(f"fetching {address}", file=sys.stderr)
        try:
            return read_address(address, sha256), address
        except StudyError as error:
            failures.append(str(error).removesuffix(f"; {ADVICE}"))
    told = f"; the last: {failures[-1]}" if failures else ""
    raise StudyError(
        f"CS224N_DATA is not set and none of {len(addresses)} addresses "
        f"(params.yaml, sources.cs224n.addresses) gave the four files{told}; {ADVICE}"
    )


@command
def main() -> None:
    """Read the settings and CS224N_DATA, fetch, and print what was done."""
    argparse.ArgumentParser(
        prog="python -m stages.fetch",
        description=f"Obtain the four CS224N files, verify their checksums and write them to {FOLDER}.",
        epilog=f"To use a copy of your own, {ADVICE}.",
    ).parse_args()
    settings = load().sources.cs224n
    print(obtain(os.environ.get("CS224N_DATA"), FOLDER, settings.addresses, settings.sha256))


if __name__ == "__main__":
    main()
