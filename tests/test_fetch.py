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

from stages import fetch
from stages.fetch import obtain
from stages.settings import load
from stages.sources import download
from stages.sources.reading import read_documents, read_questions
from stages.system.errors import StudyError

ROOT = Path(__file__).parents[1]
FILES = {
    "wiki.txt": "Oda Quill. Born in Vell.\nZoé Ark. Born in Urr.\n".encode(),
    "birth_places_train.tsv": b"Where was Oda Quill born?\tVell\n",
    "birth_dev.tsv": "Where was Zoé Ark born?\tUrr\n".encode(),
    "birth_test_inputs.tsv": b"Where was Tam Brae born?\n",
}
SHA256 = {name: hashlib.sha256(content).hexdigest() for name, content in FILES.items()}


def fill(folder: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def zipped(files: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def inside(folder: str, files: dict[str, bytes] = FILES) -> dict[str, bytes]:
    return {folder + name: content for name, content in files.items()}


def content_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()} if folder.exists() else {}


def refusal(source: str | None, folder: Path, addresses: list[str] | None = None) -> str:
    """The message of a fetch that must fail: one line that says how to supply the data; nothing changes."""
    before = content_of(folder)
    with pytest.raises(StudyError) as caught:
        obtain(source, folder, addresses or [], SHA256)
    message = str(caught.value)
    assert message.isprintable()
    assert message.endswith("set CS224N_DATA to a folder, a zip or a URL with the four files")
    assert content_of(folder) == before
    left = folder.parent.iterdir() if folder.parent.exists() else []
    assert not [path for path in left if path.name.startswith(".")]
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
            self.send_response(200 if content is not None else 404)
            self.send_header("Content-Length", str(len(content or b"") + (9 if "cut" in self.path else 0)))
            self.end_headers()
            self.wfile.write(content or b"")

        def log_message(self, format: str, *args: object) -> None:
            pass

    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        pages["address"] = f"http://127.0.0.1:{server.server_port}".encode()
        yield pages
        server.shutdown()
        thread.join(timeout=10)


@pytest.mark.parametrize("below", ["", "a5/student/"], ids=["top", "subfolder"])
@pytest.mark.parametrize("form", ["folder", "zip"])
def test_files_are_found_by_name_wherever_they_lie(tmp_path: Path, target: Path, below: str, form: str) -> None:
    files = inside(below) | {"a5/run.py": b"pass\n", "a5/dev.tsv": b"else"}
    source = tmp_path / "source"
    if form == "folder":
        fill(source, files)
    else:
        source.write_bytes(zipped(files))
    assert "now holds" in obtain(str(source), target, [], SHA256)
    assert content_of(target) == FILES


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content.replace(b"\n", b"\r\n"),
        lambda content: content.rstrip(b"\n"),
        lambda content: content + b"\r\n\n",
    ],
    ids=["CRLF", "no final newline", "empty last lines"],
)
def test_line_ends_and_the_final_newline_do_not_matter(tmp_path: Path, target: Path, change) -> None:
    source = fill(tmp_path / "source", {name: change(content) for name, content in FILES.items()})
    obtain(str(source), target, [], SHA256)
    assert content_of(target) == FILES


def test_of_several_candidates_the_one_with_the_right_checksum_is_taken(tmp_path: Path, target: Path) -> None:
    wrong = dict.fromkeys(FILES, b"another\n")
    files = inside("a/", wrong) | inside("b\\") | inside("c/", wrong)
    source = tmp_path / "source.zip"
    source.write_bytes(zipped(files))
    obtain(str(source), target, [], SHA256)
    assert content_of(target) == FILES


@pytest.mark.parametrize("below", ["__MACOSX/", ".hidden/", "a/b/c/d/e/"])
def test_hidden_and_remote_corners_of_a_folder_are_not_searched(tmp_path: Path, target: Path, below: str) -> None:
    assert "wiki.txt: not found" in refusal(str(fill(tmp_path / "source", inside(below))), target)


@pytest.mark.parametrize("form", ["folder", "zip"])
def test_a_different_file_is_named_with_both_checksums(tmp_path: Path, target: Path, form: str) -> None:
    fill(target, {"wiki.txt": b"old\n"})
    files = FILES | {"birth_dev.tsv": b"Where was Zo\xc3\xa9 Ark born?\tVell\n"}
    source = tmp_path / "source"
    if form == "folder":
        fill(source, files)
    else:
        source.write_bytes(zipped(files))
    message = refusal(str(source), target)
    found = hashlib.sha256(files["birth_dev.tsv"]).hexdigest()
    assert message.startswith("birth_dev.tsv: ") and str(source) in message
    assert f"{SHA256['birth_dev.tsv']} expected" in message and f"{found} found" in message


def test_a_missing_file_is_named(tmp_path: Path, target: Path) -> None:
    source = tmp_path / "source.zip"
    source.write_bytes(zipped({"a5/wiki.txt": FILES["wiki.txt"]} | inside("__MACOSX/a5/._")))
    message = refusal(str(source), target)
    assert message.startswith(f"birth_places_train.tsv: not found in {source}")
    assert SHA256["birth_places_train.tsv"] in message and "birth_dev.tsv, birth_test_inputs.tsv" in message


def test_a_source_that_is_no_source_is_refused(tmp_path: Path, target: Path) -> None:
    archive = zipped(FILES)
    (tmp_path / "page.zip").write_bytes(b"<html>not found</html>")
    (tmp_path / "cut.zip").write_bytes(archive[: len(archive) // 2])
    (tmp_path / "hurt.zip").write_bytes(archive[:40] + b"\xff" * 20 + archive[60:])
    for name in ("page.zip", "cut.zip", "hurt.zip"):
        assert "not a readable zip archive" in refusal(str(tmp_path / name), target)
    assert "no such file or folder" in refusal(str(tmp_path / "absent\x1b[0m"), target)
    assert "cannot be read" in refusal("~no-such-user/data", target)
    assert "only http and https" in refusal("ftp://127.0.0.1/a5.zip", target)


def test_a_file_that_unpacks_beyond_the_limit_is_not_the_wanted_one(
    tmp_path: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "FILE_LIMIT", 1000)
    source = tmp_path / "source.zip"
    source.write_bytes(zipped(FILES | {"wiki.txt": b"\0" * 2_000_000}))
    assert refusal(str(source), target).startswith("wiki.txt: another file than expected")


def test_an_archive_beyond_the_limit_is_refused(
    tmp_path: Path, target: Path, serve: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "ARCHIVE_LIMIT", 100)
    serve["/a5.zip"] = zipped(FILES)
    (tmp_path / "a5.zip").write_bytes(serve["/a5.zip"])
    for source in (str(tmp_path / "a5.zip"), serve["address"].decode() + "/a5.zip"):
        assert "larger than" in refusal(source, target)


def test_relative_paths_and_the_home_folder_are_understood(
    tmp_path: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path / "mine", FILES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert "now holds" in obtain("mine", target, [], SHA256)
    assert "nothing to do" in obtain("~/mine", target, [], SHA256)


def test_an_address_given_by_the_user_is_downloaded(target: Path, serve: dict[str, bytes]) -> None:
    serve["/a5.zip"] = zipped(inside("a5/"))
    obtain(serve["address"].decode() + "/a5.zip", target, [], SHA256)
    assert content_of(target) == FILES


def test_a_failing_address_is_told_without_its_secrets(target: Path, serve: dict[str, bytes]) -> None:
    serve["/cut.zip"] = zipped(FILES)
    address = serve["address"].decode()
    assert "HTTP 404" in refusal(f"{address}/absent.zip?token=secret", target)
    assert "secret" not in refusal(f"{address}/absent.zip?token=secret", target)
    assert "the transfer ended after" in refusal(f"{address}/cut.zip", target)
    assert "cannot be fetched" in refusal("http://user:secret@[broken/a5.zip", target)


def test_addresses_are_tried_in_order_until_one_serves(target: Path, serve: dict[str, bytes]) -> None:
    serve["/page"], serve["/other.zip"] = b"<html>", zipped(FILES | {"wiki.txt": b"another\n"})
    serve["/good.zip"] = zipped(FILES)
    addresses = [serve["address"].decode() + path for path in ("/absent", "/page", "/other.zip", "/good.zip")]
    for unset in (None, "", " "):
        assert "good.zip" in obtain(unset, target / repr(unset), addresses, SHA256)
        assert content_of(target / repr(unset)) == FILES


def test_without_source_and_network_one_line_says_how_to_supply_the_data(
    target: Path, serve: dict[str, bytes], capfd: pytest.CaptureFixture[str]
) -> None:
    address = serve["address"].decode()
    message = refusal(None, target, [f"{address}/first", f"{address}/second"])
    assert "CS224N_DATA is not set" in message and "none of 2 addresses" in message and "second" in message
    assert capfd.readouterr().err == ""


def test_right_files_are_left_alone(tmp_path: Path, target: Path) -> None:
    fill(target, FILES)
    source = fill(tmp_path / "source", FILES)
    before = [(path.stat().st_ino, path.stat().st_mtime_ns) for path in sorted(target.iterdir())]
    assert "nothing to do" in obtain(None, target, [], SHA256)
    assert "nothing to do" in obtain(str(source), target, [], SHA256)
    assert [(path.stat().st_ino, path.stat().st_mtime_ns) for path in sorted(target.iterdir())] == before


def test_a_source_that_cannot_be_read_is_an_error_though_the_files_are_right(tmp_path: Path, target: Path) -> None:
    fill(target, FILES)
    assert "no such file or folder" in refusal(str(tmp_path / "absent"), target)


def test_files_put_in_place_by_hand_are_normalised_and_others_stay(target: Path) -> None:
    fill(target, {name: content.rstrip(b"\n") for name, content in FILES.items()} | {"notes.txt": b"mine"})
    assert "now holds" in obtain(None, target, [], SHA256)
    assert content_of(target) == FILES | {"notes.txt": b"mine"}


def test_a_write_that_fails_halfway_changes_nothing(
    tmp_path: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(target, {"wiki.txt": b"old\n"})
    source = fill(tmp_path / "source", FILES)

    def fail_at_the_third(path: Path, content: bytes) -> None:
        if path.name == "birth_dev.tsv":
            raise OSError(28, "No space left on device")
        path.write_bytes(content)

    monkeypatch.setattr(fetch, "write_bytes", fail_at_the_third)
    with pytest.raises(OSError, match="No space left"):
        obtain(str(source), target, [], SHA256)
    assert content_of(target) == {"wiki.txt": b"old\n"}
    assert [path.name for path in target.parent.iterdir()] == [target.name]


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
