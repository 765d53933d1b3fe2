"""Fetching four files from folders, zip archives and a local server. Only the last test reads real data."""

import hashlib
import io
import os
import threading
import zipfile
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from stages.corpus.vocabulary import Vocabulary
from stages.fetch import ADVICE, obtain
from stages.settings import load
from stages.sources.reading import read_documents, read_questions
from stages.system.errors import StudyError
from tests.support.tiny import ROOT

NAMES = ("wiki.txt", "birth_places_train.tsv", "birth_dev.tsv", "birth_test_inputs.tsv")
FILES = {name: f"{name}\nZoé Ark\n".encode() for name in NAMES}
SHA256 = {name: hashlib.sha256(content).hexdigest() for name, content in FILES.items()}


def fill(folder: Path, files: dict[str, bytes]) -> str:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return str(folder)


def zipped(path: Path, files: dict[str, bytes]) -> str:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return str(path)


def claiming_more(files: dict[str, bytes]) -> bytes:
    """A zip whose directory claims that each file has more bytes than there are."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
        for member in archive.infolist():
            member.file_size = member.compress_size = 10_000
    return content.getvalue()


def content_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()} if folder.exists() else {}


def refusal(source: str | None, folder: Path, addresses: tuple[str, ...] = ()) -> str:
    """The message of a fetch that must fail: one line that says how to supply the data; nothing changes."""
    before = content_of(folder)
    with pytest.raises(StudyError) as caught:
        obtain(source, folder, addresses, SHA256)
    message = str(caught.value)
    assert message.isprintable() and message.endswith(ADVICE)
    assert content_of(folder) == before
    return message


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "project" / "raw"


@pytest.fixture
def address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a server of the test's folder."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=tmp_path)) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize("source", ["{folder}/source", "{folder}/a5.zip", "{address}/a5.zip?token=1"])
def test_files_are_found_by_name_and_checksum_whatever_their_folder_and_line_ends(
    tmp_path: Path, target: Path, address: str, source: str
) -> None:
    files = {f"b/c/{name}": content.replace(b"\n", b"\r\n") for name, content in FILES.items()}
    files |= {f"{folder}/{name}": b"another\n" for name in FILES for folder in ("a", "d")}
    fill(tmp_path / "source", files)
    zipped(tmp_path / "a5.zip", {name.replace("c/", "c\\"): content for name, content in files.items()})
    fill(target, {"notes.txt": b"mine"})
    assert "now holds" in obtain(source.format(folder=tmp_path, address=address), target, [], SHA256)
    assert content_of(target) == FILES | {"notes.txt": b"mine"}


def test_right_files_are_left_alone(tmp_path: Path, target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(fill(tmp_path, {f"mine/{name}": content for name, content in FILES.items()}))
    monkeypatch.setenv("HOME", str(tmp_path))
    fill(target, {name: content.rstrip(b"\n") for name, content in FILES.items()})
    assert "now holds" in obtain(None, target, [], SHA256)  # put there by hand
    before = [path.stat().st_mtime_ns for path in sorted(target.iterdir())]
    for source in (None, " ", "mine", "~/mine"):
        assert "nothing to do" in obtain(source, target, [], SHA256)
    assert [path.stat().st_mtime_ns for path in sorted(target.iterdir())] == before


def test_different_and_missing_files_are_named(tmp_path: Path, target: Path) -> None:
    fill(target, {"wiki.txt": b"old\n"})
    files = {"wiki.txt": FILES["wiki.txt"], "birth_places_train.tsv": b"other\n", "a/b/c/d/e/birth_dev.tsv": b""}
    source = fill(tmp_path / "source", files)
    message = refusal(source, target)
    lacking = "birth_places_train.tsv, birth_dev.tsv, birth_test_inputs.tsv"
    assert message.startswith(f"{source}: no {lacking} with the sha256 of params.yaml")


def test_a_source_that_is_no_source_is_refused(tmp_path: Path, target: Path, address: str) -> None:
    archive = Path(zipped(tmp_path / "whole.zip", FILES)).read_bytes()
    locked = archive.replace(
        b"PK\x01\x02\x14\x03\x14\x00\x00", b"PK\x01\x02\x14\x03\x14\x00\x01"
    )  # flags of its directory
    locked = locked.replace(b"PK\x03\x04\x14\x00\x00", b"PK\x03\x04\x14\x00\x01")
    hurt = archive[:40] + b"\xff" * 20 + archive[60:]
    Path(tmp_path / "short.zip").write_bytes(claiming_more(FILES))
    fill(tmp_path, {"cut.zip": archive[:400], "hurt.zip": hurt, "locked.zip": locked})
    fill(target, FILES)  # though the right files are there
    for source, reason in (
        (f"{tmp_path}/cut.zip", "not a zip file"),
        (f"{tmp_path}/hurt.zip", "cannot be read"),
        (f"{tmp_path}/locked.zip", "encrypted"),
        ("~nobody-of-this-name/a5.zip", "home directory"),
        (f"{tmp_path}/absent", "No such file or directory"),
        ("sftp://127.0.0.1/a5.zip", "unknown url type"),
        (f"{address}/?token=secret", "not a zip file"),
        (f"{address}/absent.zip?token=secret", "404"),
        (f"{address}/a b.zip?token=secret", "is no address"),
        ("https://me:secret@127.0.0.1/a5.zip", "is no address"),
        (f"{tmp_path}/short.zip", "cannot be read"),
    ):
        message = refusal(source, target)
        assert reason in message and "secret" not in message


def test_addresses_are_tried_in_order_until_one_serves(tmp_path: Path, target: Path, address: str) -> None:
    zipped(tmp_path / "good.zip", FILES)
    zipped(tmp_path / "other.zip", FILES | {"wiki.txt": b"another\n"})
    good, *bad = (f"{address}/{name}" for name in ("good.zip", "absent", "", "other.zip"))
    message = refusal(None, target, tuple(bad))
    assert message.startswith("CS224N_DATA is not set and no address") and "/other.zip" in message
    fill(target, FILES | {"birth_dev.tsv": b"another\n"})  # put there by hand
    assert refusal(None, target, tuple(bad)).startswith(f"{target}: no birth_dev.tsv with the sha256 of params.yaml")
    assert "good.zip" in obtain(None, target, [*bad, good, "http://127.0.0.1:1/"], SHA256)
    assert content_of(target) == FILES


def test_the_real_files_are_accepted_and_read_in_full(target: Path) -> None:
    source = os.environ.get("CS224N_DATA")
    if source is None:
        pytest.skip("needs the real data: set CS224N_DATA to a folder, a zip or a URL with the four files")
    obtain(source, target, [], load(ROOT / "params.yaml").sources.cs224n.sha256)
    documents = read_documents(target / "wiki.txt")
    assert len(documents) == 2937
    # "data has 418352 characters, 256 unique", prints the assignment's code; docs/data.md has the numbers, too
    assert len((target / "wiki.txt").read_text(encoding="utf-8")) == 418_352
    assert len(Vocabulary.of(documents)) == 256
    for name, count in (("birth_places_train.tsv", 2000), ("birth_dev.tsv", 500), ("birth_test_inputs.tsv", 437)):
        questions = read_questions(target / name, labelled="test" not in name, context=128)
        assert [question.row for question in questions] == list(range(1, count + 1))
