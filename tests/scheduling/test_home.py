"""What is to do, and what the workers get."""

import json
import subprocess
from pathlib import Path

import pytest

from stages.scheduling.home import restore, snapshot, upstream_of
from stages.system.errors import StudyError
from tests.support.project import git
from tests.support.tiny import ROOT

STAGES = "stages/dvc.yaml:"
OWN_CONFIG = """[core]
    hardlink_lock = true
[cache]
    shared = group
    dir = somewhere
['remote "store"']
    url = ssh://example.org/store
    password = secret
"""


# settings of people who look at differences in their own way
OWN_GIT = """[diff]
    external = /bin/true
    noprefix = true
[color]
    diff = always
"""


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


def test_a_clone_is_the_commit_with_all_changes_and_the_index_stays_as_it_was(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gitconfig").write_text(OWN_GIT, encoding="utf-8")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    there = tmp_path / "there"
    before = git(repository, "status", "--porcelain")
    with snapshot(remote=False) as taken:
        taken.clone(there)
        assert (repository / "work" / taken.name).exists()
    assert git(repository, "status", "--porcelain") == before and not list((repository / "work").iterdir())
    assert git(there, "rev-parse", "HEAD") == git(repository, "rev-parse", "HEAD")
    files = {path.name: path.read_bytes() for path in there.iterdir() if path.is_file() and path.name[0] != "."}
    assert files == {"kept": b"before\n", "edited": b"after\n", "binary": bytes(range(256))}
    assert Path(subprocess.run(["dvc", "cache", "dir"], cwd=there, capture_output=True, text=True).stdout.strip()) == (
        repository / ".dvc" / "cache"
    )


def test_a_clone_has_its_owners_cache_settings_but_no_password(repository: Path, tmp_path: Path) -> None:
    (repository / ".dvc" / "config.local").write_text(OWN_CONFIG, encoding="utf-8")
    with snapshot(remote=False) as taken:
        taken.clone(tmp_path / "there")
    listed = subprocess.run(["dvc", "config", "--list"], cwd=tmp_path / "there", capture_output=True, text=True).stdout
    assert {*listed.splitlines()} >= {
        "cache.shared=group",
        "core.hardlink_lock=true",
        f"cache.dir={repository}/.dvc/somewhere",
    }
    assert "secret" not in listed


def test_a_folder_below_the_root_is_refused(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repository / "work")
    with pytest.raises(StudyError, match="root of its git repository"), snapshot(remote=True):
        pass


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
    with pytest.raises(StudyError, match="'nowhere' is no stage"):
        upstream_of(["nowhere"])


def test_stages_that_read_ones_own_files_run_here_after_those_above_them(repository: Path) -> None:
    above, stages = "edited", {}
    for name in ("check", "world", "text", "train"):
        stages[name] = {"cmd": f"python -c \"open('{name}', 'w')\"", "deps": [above], "outs": [name]}
        above = name
    (repository / "dvc.yaml").write_text(json.dumps({"stages": stages}), encoding="utf-8")
    assert restore(upstream_of(["train"]), remote=False) == {"train"}


def test_a_file_that_dvc_tracks_is_no_stage(repository: Path) -> None:
    stage = "stages: {copy: {cmd: cp edited copied, deps: [edited], outs: [copied]}}"
    (repository / "dvc.yaml").write_text(stage, encoding="utf-8")
    git(repository, "rm", "--quiet", "--cached", "edited")
    subprocess.run(["dvc", "add", "--quiet", "edited"], cwd=repository, check=True)
    assert upstream_of(["copy"]) == {"copy": []}
