"""Named files with known checksums out of a folder, a zip archive or an address."""

import hashlib
import io
import re
import urllib.request
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from http.client import HTTPException, InvalidURL
from pathlib import Path

from stages.system.errors import UserError
from stages.system.files import WORK, write_bytes

CACHE = WORK / "cs224n"  # downloads, and files put there by hand
ADVICE = "set CS224N_DATA to a folder, a zip or a URL with the four files"
SILENCE_SECONDS = 30.0  # without a byte from the server


def obtained(given: str, addresses: Sequence[str], sha256: Mapping[str, str]) -> tuple[dict[str, bytes], str]:
    """Read the files named in `sha256`, and say where they are from; what was downloaded stays in CACHE.

    given: a source as for `read_source`; without one CACHE is tried, then the addresses in order. Raises UserError: no
    source has the files.
    """
    failures = []
    for source in [given] if given else [str(CACHE), *addresses]:
        try:
            files = read_source(source, sha256)
        except UserError as error:
            failures.append(str(error))
            continue
        if not given and source in addresses:
            for name, content in files.items():
                write_bytes(CACHE / name, content)
        return files, "CS224N_DATA" if given else source
    what = failures[-1]
    if not given:
        what = f"CS224N_DATA is not set and no address of sources.cs224n.addresses serves; the last: {what}"
        what = f"{failures[0]}; {what}" if CACHE.is_dir() else what
    raise UserError(f"{what}; {ADVICE}")


def read_source(source: str, sha256: Mapping[str, str]) -> dict[str, bytes]:
    """Read files by name from a folder, a zip file or an http(s) address of a zip: LF line ends, one final newline.

    sha256: the digest of each file in that form. Raises UserError: the source cannot be read, or lacks such a file.
    """
    where = source
    if "://" in source:  # user, password and query may be secret
        where = re.sub(r"//[^/]*@", "//", where.partition("?")[0])
    right: dict[str, bytes] = {}
    try:
        for name, raw in _candidates(source, sha256):
            content = raw.replace(b"\r\n", b"\n").rstrip(b"\n") + b"\n"  # copies in circulation differ only in this
            if hashlib.sha256(content).hexdigest() == sha256[name]:
                right[name] = content
    except InvalidURL:  # its text may hold what is secret
        raise UserError(f"{where}: is no address; one with a user and a password is not supported") from None
    except (OSError, HTTPException, zipfile.BadZipFile, zlib.error, EOFError, ValueError, RuntimeError) as error:
        reason = str(getattr(error, "strerror", None) or error or type(error).__name__)
        raise UserError(f"{where}: cannot be read ({reason})") from None

    if lacking := [name for name in sha256 if name not in right]:
        raise UserError(f"{where}: no {', '.join(lacking)} with the sha256 of params.yaml's sources.cs224n")
    return right


def _candidates(source: str, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the content of each file that has one of these names."""
    path = Path(source).expanduser()
    if "://" in source:
        request = urllib.request.Request(source, headers={"User-Agent": "Mozilla/5.0 (compatible; study/1.0)"})
        with urllib.request.urlopen(request, timeout=SILENCE_SECONDS) as response:
            content = response.read()
    elif path.is_dir():
        for name in names:
            yield from ((name, match.read_bytes()) for match in path.rglob(name) if match.is_file())
        return
    else:
        content = path.read_bytes()
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for member in archive.infolist():
            name = re.split(r"[/\\]", member.filename)[-1]  # some Windows tools write backslashes
            if name in names:
                yield name, archive.read(member)
