"""Named files with known checksums out of a folder, a zip archive or an address; nothing is unpacked to disk."""

import hashlib
import io
import lzma
import re
import urllib.request
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from http.client import HTTPException
from pathlib import Path

from stages.system.errors import StudyError
from stages.system.files import read_input
from stages.system.terminal import harmless

ARCHIVE_LIMIT = 50_000_000  # bytes of a zip archive
FILE_LIMIT = 10_000_000  # bytes of one file; the largest wanted has half a million
FOLDER_DEPTH = 4  # levels searched below a folder, lest `/` be read to its end
SILENCE_SECONDS = 30.0  # without a byte from the server
DAMAGED = zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, RuntimeError, ValueError  # what a zip may raise


def read_source(source: str, sha256: Mapping[str, str]) -> dict[str, bytes]:
    """Read the files named in `sha256` from a folder, a zip file or an http(s) address of a zip.

    In: `source` as a user writes it (`~` is expanded, a relative path starts at the working folder);
    `sha256`, file name → hexadecimal checksum of the normalised content.
    Out: file name → normalised content: LF line ends, exactly one final newline.
    Raises StudyError: nothing there, unreadable, too large, no zip archive, a file missing or different.
    """
    where = harmless(source)
    if "://" in source:  # user, password and query may be secret
        where = re.sub(r"//[^/]*@", "//", re.split(r"[?#]", where)[0])
    try:
        return _right(_candidates(source, sha256), where, sha256)
    except (OSError, HTTPException, *DAMAGED) as error:
        reason = str(getattr(error, "strerror", None) or error or type(error).__name__)
        raise StudyError(f"{where}: cannot be read ({harmless(reason)})") from None


def _candidates(source: str, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """Read each file of these names as far as FILE_LIMIT: a longer one fails its checksum."""
    path = Path(source).expanduser()
    if path.is_dir():
        for pattern in (f"{'*/' * depth}{name}" for name in names for depth in range(FOLDER_DEPTH + 1)):
            for match in filter(Path.is_file, path.glob(pattern)):  # a pipe would never end
                with match.open("rb") as file:
                    yield match.name, file.read(FILE_LIMIT)
        return
    with zipfile.ZipFile(io.BytesIO(_archive(source, path))) as archive:
        for member in archive.infolist():
            name = member.filename.replace("\\", "/").rpartition("/")[2]  # some Windows tools write backslashes
            if name in names:
                with archive.open(member) as file:
                    yield name, file.read(FILE_LIMIT)  # the size a member claims may be wrong


def _archive(source: str, path: Path) -> bytes:
    if "://" not in source:
        return read_input(path, ARCHIVE_LIMIT)
    if not re.match(r"https?://", source, re.IGNORECASE):
        raise ValueError("only http and https addresses can be fetched")
    request = urllib.request.Request(source, headers={"User-Agent": "Mozilla/5.0 (compatible; study/1.0)"})
    with urllib.request.urlopen(request, timeout=SILENCE_SECONDS) as response:
        content: bytes = response.read(ARCHIVE_LIMIT + 1)
    if len(content) > ARCHIVE_LIMIT:
        raise ValueError(f"larger than {ARCHIVE_LIMIT // 1_000_000} MB, not the archive")
    return content


def _right(files: Iterable[tuple[str, bytes]], where: str, sha256: Mapping[str, str]) -> dict[str, bytes]:
    """Keep the files whose checksum is right; StudyError if one lacks."""
    right: dict[str, bytes] = {}
    wrong: dict[str, str] = {}  # file name → the first checksum found that differs
    for name, raw in files:
        content = raw.replace(b"\r\n", b"\n").rstrip(b"\n") + b"\n"  # copies in circulation differ in these alone
        checksum = hashlib.sha256(content).hexdigest()
        if checksum == sha256[name]:
            right[name] = content
        else:
            wrong.setdefault(name, checksum)
    lacking = [name for name in sha256 if name not in right]
    if lacking:
        name, *more = lacking
        others = f" (also wanting: {', '.join(more)})" if more else ""
        seen = f"{wrong[name]} found" if name in wrong else "no file of this name found"
        raise StudyError(f"{name}: not in {where}: sha256 {sha256[name]} expected, {seen}{others}")
    return right
