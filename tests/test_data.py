"""Stage `data`: four files from folders, archives and a local server, and a text; `test_own` has pages of one's own."""

import hashlib
import os
import threading
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from stages import baseline, data, evaluate, finetune, report
from stages.corpus.prepared import Prepared
from stages.corpus.text import Vocabulary
from stages.settings.params import load
from stages.settings.sources import Fetched, Text
from stages.sources.download import ADVICE
from stages.sources.parsing import read_documents, read_questions
from stages.system.errors import UserError
from tests.support.project import contents
from tests.support.talking import RHYME, ChangeParams, Run, error
from tests.support.tiny import ROOT, SETTINGS

NAMES = ("wiki.txt", "birth_places_train.tsv", "birth_dev.tsv", "birth_test_inputs.tsv")
FILES = {name: f"{name}\nZoé Ark\n".encode() for name in NAMES}
SHA256 = {name: hashlib.sha256(content).hexdigest() for name, content in FILES.items()}
RAW, CACHE = Path("data/raw/handout"), Path("work/cs224n")
Fetch = Callable[..., str]


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


def of(folder: Path) -> dict[str, bytes]:
    return {path.name: content for path, content in contents(folder).items()}


@pytest.fixture(name="fetch")
def fetch_fixture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fetch:
    """Fetch the four files into RAW of a project: by CS224N_DATA, if it is given, or from addresses."""
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")

    def fetch(source: str = "", *addresses: str) -> str:
        monkeypatch.setenv("CS224N_DATA", source)
        files, line = data.cs224n(Fetched(addresses=[*addresses], sha256=SHA256))
        return fill(RAW, files) and line

    return fetch


def refusal(fetch: Fetch, *sources: str) -> str:
    """The message of a fetch that must fail: one line that says how to supply the data; nothing changes."""
    before = contents(Path())
    with pytest.raises(UserError) as caught:
        fetch(*sources)
    message = str(caught.value)
    assert message.isprintable() and message.endswith(ADVICE)
    assert contents(Path()) == before
    return message


@pytest.fixture
def address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a server of the test's folder."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=tmp_path)) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize("source", [" {folder}/source ", "~/source", "{folder}/a5.zip", "{address}/a5.zip?token=1"])
def test_files_are_found_by_name_and_checksum_whatever_their_folder_and_line_ends(
    tmp_path: Path, fetch: Fetch, address: str, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    files = {f"b/c/{name}": content.replace(b"\n", b"\r\n") for name, content in FILES.items()}
    files |= {f"{folder}/{name}": b"another\n" for name in FILES for folder in ("a", "d")}
    fill(tmp_path / "source", files)
    zipped(tmp_path / "a5.zip", {name.replace("c/", "c\\"): content for name, content in files.items()})
    assert fetch(source.format(folder=tmp_path, address=address)) == "the four files of CS224N_DATA, checksums verified"
    assert of(RAW) == FILES and not CACHE.exists()


def test_different_and_missing_files_are_named(tmp_path: Path, fetch: Fetch) -> None:
    fill(RAW, {"wiki.txt": b"old\n"})
    files = {"wiki.txt": FILES["wiki.txt"], "birth_places_train.tsv": b"other\n", "a/b/c/d/e/birth_dev.tsv": b""}
    source = fill(tmp_path / "source", files)
    lacking = "birth_places_train.tsv, birth_dev.tsv, birth_test_inputs.tsv"
    assert refusal(fetch, source).startswith(f"{source}: no {lacking} with the sha256 of params.yaml")


def test_a_source_that_is_no_source_is_refused(tmp_path: Path, fetch: Fetch, address: str) -> None:
    archive = Path(zipped(tmp_path / "whole.zip", FILES)).read_bytes()
    hurt = archive[:40] + b"\xff" * 20 + archive[60:]
    fill(tmp_path, {"hurt.zip": hurt})
    fill(CACHE, FILES)  # though the right files are there
    for source, reason in (
        (f"{tmp_path}/hurt.zip", "cannot be read"),
        ("~nobody-of-this-name/a5.zip", "home directory"),
        (f"{tmp_path}/absent", "No such file or directory"),
        ("sftp://127.0.0.1/a5.zip", "unknown url type"),
        (f"{address}/?token=secret", "not a zip file"),
        (f"{address}/absent.zip?token=secret", "404"),
        ("https://me:secret@127.0.0.1/a5.zip", "is no address"),
    ):
        message = refusal(fetch, source)
        assert reason in message and "secret" not in message


def test_addresses_are_tried_in_order_until_one_serves_and_what_it_served_is_kept(
    tmp_path: Path, fetch: Fetch, address: str
) -> None:
    zipped(tmp_path / "good.zip", FILES)
    zipped(tmp_path / "other.zip", FILES | {"wiki.txt": b"another\n"})
    good, *bad = (f"{address}/{name}" for name in ("good.zip", "absent", "", "other.zip"))
    message = refusal(fetch, "", *bad)
    assert message.startswith("CS224N_DATA is not set and no address") and "/other.zip" in message
    fill(CACHE, FILES | {"birth_dev.tsv": b"another\n"})  # put there by hand
    assert refusal(fetch, "", *bad).startswith(f"{CACHE}: no birth_dev.tsv with the sha256 of params.yaml")
    assert "good.zip" in fetch("", *bad, good, "http://127.0.0.1:1/")
    assert of(RAW) == of(CACHE) == FILES
    by_hand = {name: content.rstrip(b"\n") for name, content in FILES.items()}
    fill(CACHE, by_hand)
    assert str(CACHE) in fetch("", *bad)
    assert of(RAW) == FILES and of(CACHE) == by_hand  # left as they are


def test_the_real_files_are_accepted_and_read_in_full(tmp_path: Path) -> None:
    if "CS224N_DATA" not in os.environ:
        pytest.skip("needs the real data: set CS224N_DATA to a folder, a zip or a URL with the four files")
    fill(tmp_path / "raw", data.cs224n(load(ROOT / "params.yaml").sources.cs224n)[0])
    documents = read_documents(tmp_path / "raw/wiki.txt")
    assert len(documents) == 2937
    # "data has 418352 characters, 256 unique", prints the assignment's code; docs/data.md has the numbers, too
    assert len((tmp_path / "raw/wiki.txt").read_text(encoding="utf-8")) == 418_352
    assert len(Vocabulary.of(documents)) == 256
    for name, count in (("birth_places_train.tsv", 2000), ("birth_dev.tsv", 500), ("birth_test_inputs.tsv", 437)):
        questions = read_questions(tmp_path / "raw" / name, labelled="test" not in name, context=128)
        assert [question.row for question in questions] == list(range(1, count + 1))


@pytest.mark.parametrize(
    ("path", "fault"),
    [("nowhere.txt", "there is no file nowhere.txt; name one in UTF-8"), ("data", "data is a folder")],
)
def test_a_missing_text_is_told_with_its_key(run: Run, change: ChangeParams, path: str, fault: str) -> None:
    change({"recipe": "text", "sources.text.path": path})
    assert error(run(data)).startswith(f"error: params.yaml: sources.text.path: {fault}")


@pytest.mark.parametrize("pages", [1, 3])
def test_the_folder_of_the_generated_world_stands_for_all_its_pages(
    pages: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    world = SETTINGS.sources.synthetic.model_copy(update={"pages": pages})
    files, _ = data.text(Text(path="stages/sources/world", people=7), world)
    assert len(files["text.txt"].splitlines()) == 7 * pages


@pytest.mark.parametrize("stage", [finetune, evaluate, baseline, report])
def test_a_stage_that_needs_questions_refuses_a_text(run: Run, change: ChangeParams, stage: Any) -> None:
    change({"recipe": "text"})
    assert error(run(stage)).startswith("error: recipe 'text' has no questions")


def test_the_text_is_prepared_without_a_lost_character(project: Path) -> None:
    prepared = Prepared.load(project / "data" / "prepared" / "text")
    assert prepared.vocabulary.decode(prepared.documents.values) == RHYME * 10
    assert [*prepared.documents.lengths] == [32] * 7 + [16]
    assert {split: len(asked) for split, asked in prepared.questions.items()} == {"train": 0, "dev": 0, "test": 0}
    assert len(prepared.table) == 0
