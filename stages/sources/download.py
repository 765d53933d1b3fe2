"""Named files with known checksums out of a folder, a zip archive or an address.

Nothing is unpacked to disk: contents are handed back as bytes, verified.
"""

import hashlib
import http.client
import io
import os
import re
import sys
import time
import urllib.request
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from lzma import LZMAError
from pathlib import Path, PurePosixPath

from tqdm import tqdm

from stages.system.errors import StudyError
from stages.system.terminal import harmless

ADVICE = "set CS224N_DATA to a folder, a zip or a URL with the four files"
ARCHIVE_LIMIT = 50_000_000  # bytes of a zip archive
FILE_LIMIT = 10_000_000  # bytes of one file; the largest wanted has half a million
FOLDER_DEPTH = 4  # levels searched below a folder, lest `/` be read to its end
SILENCE_SECONDS = 30.0  # without a byte from the server
DOWNLOAD_SECONDS = 600.0  # for the whole archive
BAR_BYTES = 1_000_000  # a smaller download is over before a progress bar helps


def read_source(source: str, sha256: Mapping[str, str]) -> dict[str, bytes]:
    """Read the files named in `sha256` from a folder, a zip file or an http(s) address of a zip.

    In: `source` as a user writes it (`~` is expanded, a relative path starts at the working folder);
    `sha256`, file name → hexadecimal checksum of the normalised content.
    Out: file name → normalised content: LF line ends, exactly one final newline.
    Raises StudyError: nothing there, unreadable, no zip archive, a file missing or different.
    """
    if re.match(r"https?://", source, re.IGNORECASE):
        return read_address(source, sha256)
    where = harmless(source)
    if "://" in source:
        raise StudyError(f"{where}: only http and https addresses can be fetched; {ADVICE}")
    try:
        path = Path(source).expanduser()
        if path.is_dir():
            return read_folder(path, sha256)
        with path.open("rb") as file:
            return _read_zip(file.read(ARCHIVE_LIMIT + 1), where, sha256)
    except FileNotFoundError:
        raise StudyError(f"{where}: there is no such file or folder; {ADVICE}") from None
    except (OSError, RuntimeError) as error:  # RuntimeError: the home folder of an unknown user
        raise StudyError(f"{where}: cannot be read ({_reason(error)}); {ADVICE}") from None


def read_folder(folder: Path, sha256: Mapping[str, str]) -> dict[str, bytes]:
    """Read the files named in `sha256` from a folder or the folders below it; see `read_source`."""
    return _choose(_in_folder(folder, sha256), harmless(str(folder)), sha256)


def read_address(address: str, sha256: Mapping[str, str]) -> dict[str, bytes]:
    """Download a zip archive and read the files named in `sha256` from it; see `read_source`."""
    where = harmless(_public(address))
    try:
        archive = _download(address)
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise StudyError(f"{where}: cannot be fetched ({_reason(error)}); {ADVICE}") from None
    return _read_zip(archive, where, sha256)


def _read_zip(archive: bytes, where: str, sha256: Mapping[str, str]) -> dict[str, bytes]:
    if len(archive) > ARCHIVE_LIMIT:
        raise StudyError(f"{where}: larger than {ARCHIVE_LIMIT // 1_000_000} MB, not the archive; {ADVICE}")
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            return _choose(_in_zip(opened, sha256), where, sha256)
    # the archive is in memory: each of these is about its bytes (bz2 raises OSError, a password RuntimeError)
    except (zipfile.BadZipFile, zlib.error, LZMAError, EOFError, OSError, RuntimeError, ValueError) as error:
        raise StudyError(f"{where}: not a readable zip archive ({_reason(error)}); {ADVICE}") from None


def normalised(content: bytes) -> bytes:
    """LF line ends and exactly one final newline: copies in circulation differ in these alone."""
    return content.replace(b"\r\n", b"\n").rstrip(b"\n") + b"\n"


def _choose(found: Iterable[tuple[str, bytes]], where: str, sha256: Mapping[str, str]) -> dict[str, bytes]:
    """Of the files found (base name, content), those whose checksum is right; StudyError if one lacks."""
    right: dict[str, bytes] = {}
    wrong: dict[str, str] = {}  # file name → the first checksum found that differs
    for name, raw in found:
        content = normalised(raw)
        checksum = hashlib.sha256(content).hexdigest()
        if checksum == sha256[name]:
            right[name] = content
            if len(right) == len(sha256):
                return {name: right[name] for name in sha256}
        else:
            wrong.setdefault(name, checksum)
    lacking = [name for name in sha256 if name not in right]
    name = lacking[0]
    if name in wrong:
        what = f"another file than expected in {where}: sha256 {sha256[name]} expected, {wrong[name]} found"
    else:
        what = f"not found in {where}: sha256 {sha256[name]} expected, no file of this name found"
    others = f" (also wanting: {', '.join(lacking[1:])})" if lacking[1:] else ""
    raise StudyError(f"{name}: {what}{others}; {ADVICE}")


def _in_folder(folder: Path, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    for parent, below, files in os.walk(folder):
        deep = len(Path(parent).relative_to(folder).parts) >= FOLDER_DEPTH
        below[:] = [] if deep else sorted(name for name in below if not _ignored(name))
        for name in names:
            path = Path(parent, name)
            if name in files and path.is_file():  # a pipe would never end
                with path.open("rb") as file:
                    yield name, file.read(FILE_LIMIT)  # a longer file fails its checksum


def _in_zip(archive: zipfile.ZipFile, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    wanted = set(names)
    for member in archive.infolist():
        path = PurePosixPath(member.filename.replace("\\", "/"))  # some Windows tools write backslashes
        if path.name in wanted and not member.is_dir() and not any(map(_ignored, path.parts)):
            with archive.open(member) as file:
                yield path.name, file.read(FILE_LIMIT)  # the size a member claims may be wrong


def _ignored(name: str) -> bool:
    return name == "__MACOSX" or (name.startswith(".") and name not in {".", ".."})


def _download(address: str) -> bytes:
    """The bytes behind `address`, at most one more than ARCHIVE_LIMIT."""
    request = urllib.request.Request(address, headers={"User-Agent": "Mozilla/5.0 (compatible; study/1.0)"})
    deadline = time.monotonic() + DOWNLOAD_SECONDS
    content = bytearray()
    with urllib.request.urlopen(request, timeout=SILENCE_SECONDS) as response:
        size = int(response.headers.get("Content-Length") or 0)
        hidden = True if 0 < size < BAR_BYTES else None  # None: hidden unless stderr is a terminal
        with tqdm(total=size or None, unit="B", unit_scale=True, disable=hidden, file=sys.stderr) as bar:
            while len(content) <= ARCHIVE_LIMIT and (piece := response.read1(65536)):
                content += piece
                bar.update(len(piece))
                if time.monotonic() > deadline:
                    raise TimeoutError(f"not complete after {DOWNLOAD_SECONDS:.0f} seconds")
    if len(content) < size:
        raise ConnectionError(f"the transfer ended after {len(content)} of {size} bytes")
    return bytes(content[: ARCHIVE_LIMIT + 1])


def _public(address: str) -> str:
    """The address without user, password and query, which may hold a secret."""
    return re.sub(r"//[^/]*@", "//", re.split(r"[?#]", address)[0])


def _reason(error: BaseException) -> str:
    inner = getattr(error, "reason", None)  # URLError wraps what happened
    told = getattr(inner, "strerror", None) or inner or getattr(error, "strerror", None) or error
    code = getattr(error, "code", None)  # HTTPError
    return harmless(f"HTTP {code} {told}" if code else str(told) or type(error).__name__)
