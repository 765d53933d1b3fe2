"""Whatever happened to a file, a command succeeds or fails in one line, and changes nothing."""

import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil  # type: ignore[import-untyped]
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stages import prepare
from stages.commands import ask, sample, show
from stages.jobs.executor import check_jobs
from stages.jobs.job import jobs_of
from stages.settings.params import load
from stages.settings.sources import CORPUS_FILE, QUESTION_FILES
from stages.system import errors
from stages.system.files import write_text
from tests.support.project import contents, limited, restored, write_params
from tests.support.talking import ZOE, Outcome, Run, is_obeyed, tiny
from tests.support.tiny import DOCUMENTS, QUESTIONS

in_one_project = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
VALUES: list[Any] = [
    *(None, True, "", " ", "x", "\x1b[2J\n", "x" * 10**5, "ü□⁇", [], {}, [[]], {"a": {}}, [None] * 1000),
    *(0, -1, 1, 7, 10**6, 10**12, 2**63, -(2**63), 10**30, 0.0, -0.5, 1e-300, 1e30, 1e308, float("inf"), float("nan")),
    *("compared", "quick", "../../etc", "CON", "a.b", "NaN", "1e9", "2026-01-01"),
]
OF_BOTH = ["--recipe", "--variant", "--seed"]
DRAWS = ["--beams", "--temperature", "--top-k", "--top-p", "--draw-seed"]
OPTIONS = {ask: [*OF_BOTH, "--top", "--at-least"], sample: [*OF_BOTH, *DRAWS, "--prompt", "--characters"]}
OPTIONS |= {show: ["--recipe", "--page", "--draw-seed"]}
CHECK = SimpleNamespace(__name__="check", main=errors.command(lambda: check_jobs(jobs_of("pretrain", load()))))
SECONDS = 10
BYTES = 10**9
LONGEST_LINE = 500  # characters


@contextmanager
def bounded() -> Iterator[None]:
    """Fail a block that takes longer, or more memory than before."""

    def late(*_: object) -> None:
        raise AssertionError(f"still at it after {SECONDS} s")

    taken = psutil.Process().memory_info().vms
    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    try:
        with limited(resource.RLIMIT_AS, taken + BYTES):
            yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def tried(run: Run, project: Path, command: Any, *arguments: str) -> Outcome:
    """Run a command within bounds; an error is one line that a terminal can show, and nothing is changed by it."""
    before = contents(project)
    with bounded():
        outcome = run(command, *arguments)
    if outcome.code:
        *_, line = filter(None, outcome.err.splitlines())
        assert outcome.code in (1, 2) and "Traceback" not in outcome.err
        assert line.startswith("error: ") and not any(map(is_obeyed, line)) and len(line) <= LONGEST_LINE
        assert "too little memory" not in line
    if outcome.code or command in (ask, sample, CHECK):
        assert contents(project) == before
    return outcome


@in_one_project
@given(data=st.data(), value=st.sampled_from(VALUES))
def test_any_value_of_any_key_of_params(run: Run, project: Path, data: st.DataObject, value: Any) -> None:
    def put(content: dict[str, Any]) -> None:
        tiny(content)
        section: Any = content
        while True:
            key = data.draw(st.sampled_from([*section] if isinstance(section, dict) else range(len(section))))
            if not (isinstance(section[key], dict | list) and section[key] and data.draw(st.booleans())):
                break
            section = section[key]
        section[key] = value

    try:
        write_params(project, put)
        tried(run, project, CHECK)
    finally:
        write_params(project, tiny)


@in_one_project
@given(data=st.data(), value=st.sampled_from(VALUES).map(str) | st.text(max_size=20))
def test_any_question_and_any_value_of_any_option(run: Run, project: Path, data: st.DataObject, value: str) -> None:
    if value in ("1000000", "1000000000000") or "\0" in value:  # characters to be said; what no shell can pass on
        value = "100000000000000"
    command = data.draw(st.sampled_from([*OPTIONS]))
    option = data.draw(st.sampled_from(OPTIONS[command]))
    tried(run, project, command, option, value, *([ZOE] if command is ask else []))
    tried(run, project, ask, "--", value)


WHOLE = (b"", b"\0", b"null", b"[]", b"{}", b"7", b"NaN", b"\xff\xfe", b"x" * 100_000, b"\n" * 10_000)
# What may happen to a file: to its content, at a place in it, with some bytes
CHANGES: tuple[Callable[[bytes, int, bytes], bytes], ...] = (
    lambda content, n, some: content[:n],
    lambda content, n, some: content[n + 1 :],
    lambda content, n, some: content[:n] + some + content[n:],
    lambda content, n, some: content[:n] + some + content[n + len(some) :],
    lambda content, n, some: content[:n] + bytes(len(content) - n),
    lambda content, n, some: content[:n] + bytes([content[n] ^ 1 << some[0] % 8]) + content[n + 1 :],
    lambda content, n, some: WHOLE[some[0] % len(WHOLE)],
    lambda content, n, some: content * 2,
    lambda content, n, some: b"\xef\xbb\xbf" + content,
)


@in_one_project
@given(
    data=st.data(),
    change=st.sampled_from(CHANGES),
    share=st.floats(0, 1, exclude_max=True),
    some=st.binary(min_size=1, max_size=20),
)
def test_any_bytes_of_a_corpus_or_of_questions(
    run: Run, project: Path, data: st.DataObject, change: Callable[..., bytes], share: float, some: bytes
) -> None:
    raw = project / "data/raw/quick"
    lines = {name: [question.question for question in QUESTIONS] for name in QUESTION_FILES.values()}
    for name in (QUESTION_FILES["train"], QUESTION_FILES["dev"]):
        lines[name] = [f"{question.question}\t{question.place}" for question in QUESTIONS]
    with restored(project / "data"):
        for name, written in (lines | {CORPUS_FILE: DOCUMENTS}).items():
            write_text(raw / name, "".join(f"{line}\n" for line in written))
        path = data.draw(st.sampled_from(sorted(raw.iterdir())))
        content = path.read_bytes()
        path.write_bytes(change(content, int(share * len(content)), some))
        tried(run, project, prepare)
