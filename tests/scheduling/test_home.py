"""What is to do, and what the workers get."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from stages.scheduling.home import restore, run, snapshot, upstream_of
from stages.system.errors import StudyError
from tests.support.project import git
from tests.support.tiny import ROOT

STAGES = "stages/dvc.yaml:"


@pytest.fixture(name="repository")
def repository_fixture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with each kind of change since its commit, and DVC."""
    folder = tmp_path / "one's own"
    folder.mkdir()
    monkeypatch.chdir(folder)
    git(folder, "init", "--quiet")
    subprocess.run(["dvc", "init", "--quiet"], cwd=folder, check=True)
    (folder / ".gitignore").write_text("ignored\nwork\n", encoding="utf-8")
    for name in ("kept", "edited", "deleted"):
        (folder / name).write_text("before\n", encoding="utf-8")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "first")
    (folder / "edited").write_text("after\n", encoding="utf-8")
    (folder / "deleted").unlink()
    (folder / "binary").write_bytes(bytes(range(256)))
    (folder / "ignored").write_text("mine alone\n", encoding="utf-8")
    (folder / "work").mkdir()
    return folder


def test_a_snapshot_is_the_commit_with_all_changes_and_shares_cache_and_work(repository: Path) -> None:
    run("dvc", "config", "--local", "cache.shared", "group")
    run("dvc", "cache", "dir", "--local", "somewhere")
    before = git(repository, "status", "--porcelain")
    with snapshot() as there:
        assert git(there, "rev-parse", "HEAD") == git(repository, "rev-parse", "HEAD")
        assert git(there, "status", "--porcelain") == before
        files = {path.name: path.read_bytes() for path in there.iterdir() if path.is_file() and path.name[0] != "."}
        assert files == {"kept": b"before\n", "edited": b"after\n", "binary": bytes(range(256))}
        assert (there / "work").resolve() == repository / "work"
        assert run("dvc", "cache", "dir", folder=there).strip() == str(repository / "somewhere")
        assert "cache.shared=group" in run("dvc", "config", "--list", folder=there)
    assert git(repository, "status", "--porcelain") == before and not list((repository / "work").iterdir())


@pytest.mark.filterwarnings("ignore:_NoneStep")  # of DVC's own libraries
def test_the_stages_of_a_target_are_those_above_it_without_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    upstream = upstream_of([f"{STAGES}{name}" for name in ("baseline@quick", "evaluate@quick-rope", "world")])
    short: dict[str, set[str]] = {}
    for name, above in upstream.items():
        short[name.removeprefix(STAGES)] = {stage.removeprefix(STAGES) for stage in above}
    assert short == {
        "check": set(),
        "world": {"check"},
        "prepare@quick": {"world"},
        "baseline@quick": {"prepare@quick"},
        "pretrain@quick-rope": {"prepare@quick"},
        "finetune@quick-rope": {"prepare@quick", "pretrain@quick-rope"},
        "evaluate@quick-rope": {"prepare@quick", "pretrain@quick-rope", "finetune@quick-rope"},
    }
    assert "study" not in upstream_of(["study"])
    with pytest.raises(StudyError, match="Stage 'nowhere' not found"):
        upstream_of(["nowhere"])


@pytest.mark.filterwarnings("ignore:_NoneStep")
def test_stages_that_read_ones_own_files_run_here_after_those_above_them(repository: Path) -> None:
    above, stages = "edited", {}
    for name in ("check", "world", "text", "train"):
        stages[name] = {"cmd": f"python -c \"open('{name}', 'w')\"", "deps": [above], "outs": [name]}
        above = name
    (repository / "dvc.yaml").write_text(json.dumps({"stages": stages}), encoding="utf-8")
    git(repository, "rm", "--quiet", "--cached", "edited")
    run("dvc", "add", "--quiet", "edited")  # a file that DVC tracks is no stage
    upstream = upstream_of(["train"])
    assert upstream["check"] == [] and restore(upstream) == {"train"}

    (repository / "world").unlink()
    (repository / "world").write_text("unpacked", encoding="utf-8")  # DVC's cache has it not
    with pytest.raises(
        StudyError, match=r"unsaved files .*`--force`.* {}".format(re.escape(str(repository / "world")))
    ):
        restore(upstream)
