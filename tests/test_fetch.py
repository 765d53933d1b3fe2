"""Fetching four files from folders, zip archives and a local server. Only the last test reads real data."""

import hashlib
import io
import os
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from stages.fetch import obtain
from stages.settings import load
from stages.sources import download
from stages.sources.reading import read_documents, read_questions
from stages.system.errors import StudyError
from tests.tiny import ROOT

FILES = {
    "wiki.txt": "Oda Quill. Born in Vell.\nZoé Ark. Born in Urr.\n".encode(),
    "birth_places_train.tsv": b"Where was Oda Quill born?\tVell\n",
    "birth_dev.tsv": "Where was Zoé Ark born?\tUrr\n".encode(),
    "birth_test_inputs.tsv": b"Where was Tam Brae born?\n",
}
SHA256 = {name: hashlib.sha256(content).hexdigest() for name, content in FILES.items()}


def fill(folder: Path, files: dict[str, bytes]) -> str:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return str(folder)


def zipped(files: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def content_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()} if folder.exists() else {}


def refusal(source: str | None, folder: Path, addresses: tuple[str, ...] = ()) -> str:
    """The message of a fetch that must fail: one line that says how to supply the data; nothing changes."""
    before = content_of(folder)
    with pytest.raises(StudyError) as caught:
        obtain(source, folder, addresses, SHA256)
    message = str(caught.value)
    assert message.isprintable()
    assert message.endswith("set CS224N_DATA to a folder, a zip or a URL with the four files")
    assert content_of(folder) == before
    return message


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "project" / "raw"


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, bytes]]:
    """Pages of a server on this machine by path, with the server's address under the key `address`."""
    pages: dict[str, bytes] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content = pages.get(self.path.split("?")[0])
            self.send_response(404 if content is None else 200)
            self.end_headers()
            self.wfile.write(content or b"")

        def log_message(self, format: str, *args: object) -> None:
            pass

    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        pages["address"] = f"http://127.0.0.1:{server.server_port}".encode()
        yield pages
        server.shutdown()


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content,
        lambda content: content.replace(b"\n", b"\r\n"),
        lambda content: content.rstrip(b"\n"),
        lambda content: content + b"\r\n\n",
    ],
    ids=["as they are", "CRLF", "no final newline", "empty last lines"],
)
@pytest.mark.parametrize("form", ["folder", "zip", "address"])
def test_files_are_found_by_name_and_checksum_whatever_their_folder_and_line_ends(
    tmp_path: Path, target: Path, serve: dict[str, bytes], form: str, change
) -> None:
    files = {f"b/c/{name}": change(content) for name, content in FILES.items()}
    files |= {f"{folder}/{name}": b"another\n" for name in FILES for folder in ("a", "d")}
    if form == "folder":
        source = fill(tmp_path / "source", files)
    else:
        serve["/a5.zip"] = zipped({name.replace("c/", "c\\"): content for name, content in files.items()})
        source = fill(tmp_path, {"a5.zip": serve["/a5.zip"]}) + "/a5.zip"
    if form == "address":
        source = serve["address"].decode() + "/a5.zip?token=secret"
    fill(target, {"notes.txt": b"mine"})
    assert "now holds" in obtain(source, target, [], SHA256)
    assert content_of(target) == FILES | {"notes.txt": b"mine"}


def test_relative_paths_and_the_home_folder_are_understood(
    tmp_path: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path / "mine", FILES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert "now holds" in obtain("mine", target, [], SHA256)
    assert "nothing to do" in obtain("~/mine", target, [], SHA256)


@pytest.mark.parametrize("form", ["folder", "zip"])
def test_a_different_or_missing_file_is_named_with_its_checksums(tmp_path: Path, target: Path, form: str) -> None:
    fill(target, {"wiki.txt": b"old\n"})
    files = {"wiki.txt": FILES["wiki.txt"], "birth_places_train.tsv": b"other\n", "a/b/c/d/e/birth_dev.tsv": b""}
    source = fill(tmp_path / "source", files)
    if form == "zip":
        source = fill(tmp_path, {"a5.zip": zipped(files)}) + "/a5.zip"
    message = refusal(source, target)
    found = hashlib.sha256(b"other\n").hexdigest()
    assert message.startswith(f"birth_places_train.tsv: not in {source}: sha256 {SHA256['birth_places_train.tsv']}")
    assert f"{found} found" in message and "birth_dev.tsv, birth_test_inputs.tsv" in message


def test_a_source_that_is_no_source_is_refused(tmp_path: Path, target: Path, serve: dict[str, bytes]) -> None:
    archive, address = zipped(FILES), serve["address"].decode()
    fill(tmp_path, {"cut.zip": archive[:400], "hurt.zip": archive[:40] + b"\xff" * 20 + archive[60:]})
    serve["/page"] = b"<html>not found</html>"
    fill(target, FILES)  # though the right files are there
    for source, told in (
        (f"{tmp_path}/cut.zip", "not a zip file"),
        (f"{tmp_path}/hurt.zip", "cannot be read"),
        (f"{tmp_path}/absent\x1b[0m", "No such file or directory"),
        ("~no-such-user/data", "home directory"),
        ("ftp://127.0.0.1/a5.zip", "only http and https"),
        (f"{address}/page?token=secret", "not a zip file"),
        (f"{address}/absent.zip?token=secret", "404"),
        ("http://user:secret@[broken/a5.zip", "cannot be read"),
    ):
        message = refusal(source, target)
        assert told in message and "secret" not in message


def test_what_is_too_large_is_refused(
    tmp_path: Path, target: Path, serve: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    serve["/a5.zip"] = zipped(FILES | {"wiki.txt": b"\0" * 2_000_000})
    source = fill(tmp_path, {"a5.zip": serve["/a5.zip"]}) + "/a5.zip"
    monkeypatch.setattr(download, "FILE_LIMIT", 1000)
    assert refusal(source, target).startswith("wiki.txt: not in")
    monkeypatch.setattr(download, "ARCHIVE_LIMIT", 100)
    for each in (source, serve["address"].decode() + "/a5.zip"):
        assert "larger than" in refusal(each, target)


@pytest.mark.parametrize("unset", [None, "", " "])
def test_addresses_are_tried_in_order_until_one_serves(
    target: Path, serve: dict[str, bytes], capfd: pytest.CaptureFixture[str], unset: str | None
) -> None:
    serve["/page"], serve["/other.zip"] = b"<html>", zipped(FILES | {"wiki.txt": b"another\n"})
    serve["/good.zip"] = zipped(FILES)
    good, *bad = (serve["address"].decode() + path for path in ("/good.zip", "/absent", "/page", "/other.zip"))
    message = refusal(unset, target, tuple(bad))
    assert message.startswith("CS224N_DATA is not set and no address") and "/other.zip" in message
    assert "good.zip" in obtain(unset, target, [*bad, good, "http://127.0.0.1:1/"], SHA256)
    assert content_of(target) == FILES
    assert capfd.readouterr().err == ""


def test_right_files_are_left_alone(tmp_path: Path, target: Path) -> None:
    fill(target, {name: content.rstrip(b"\n") for name, content in FILES.items()})
    assert "now holds" in obtain(None, target, [], SHA256)  # put there by hand
    assert content_of(target) == FILES
    before = [(path.stat().st_ino, path.stat().st_mtime_ns) for path in sorted(target.iterdir())]
    for source in (None, fill(tmp_path / "source", FILES)):
        assert "nothing to do" in obtain(source, target, [], SHA256)
    assert [(path.stat().st_ino, path.stat().st_mtime_ns) for path in sorted(target.iterdir())] == before


def test_the_real_files_are_accepted_and_read_in_full(target: Path) -> None:
    source = os.environ.get("CS224N_DATA")
    if source is None:
        pytest.skip("needs the real data: set CS224N_DATA to a folder, a zip or a URL with the four files")
    obtain(source, target, [], load(ROOT / "params.yaml").sources.cs224n.sha256)
    assert len(read_documents(target / "wiki.txt")) == 2937
    for name, labelled, count in (
        ("birth_places_train.tsv", True, 2000),
        ("birth_dev.tsv", True, 500),
        ("birth_test_inputs.tsv", False, 437),
    ):
        questions = read_questions(target / name, labelled=labelled, context=128)
        assert [question.row for question in questions] == list(range(1, count + 1))
