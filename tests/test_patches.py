"""What a changed tree has beside its commit: kept once, and enough to have the tree again."""

import subprocess
from pathlib import Path

import pytest

from tiebreak import patches
from tiebreak.digest import file_digest
from tiebreak.patches import git, keep_patch, untracked


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A repository with one commit and a change of it."""
    folder = tmp_path / "tree"
    (folder / "src").mkdir(parents=True)
    (folder / "src/a.py").write_text("one\ntwo\n")
    (folder / "README.md").write_text("a study\n")
    (folder / "config").mkdir()
    (folder / "config/data.bin").write_bytes(bytes(range(256)))
    run(folder, "init", "-q")
    run(folder, "add", "-A")
    run(folder, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "first")
    (folder / "src/a.py").write_text("one\nzwei ü\n")
    (folder / "config/data.bin").write_bytes(bytes(reversed(range(256))))
    return folder


def run(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True)


def test_a_patch_brings_the_tree_back(tree: Path, tmp_path: Path) -> None:
    found = keep_patch(tree, tmp_path / "patches")
    assert found is not None and found["kept"]
    path = tmp_path / "patches" / f"{found['sha256']}.patch"
    assert file_digest(path) == found["sha256"] and path.stat().st_size == found["bytes"]
    changed = [(tree / name).read_bytes() for name in ("src/a.py", "config/data.bin")]
    run(tree, "stash")
    run(tree, "apply", str(path))
    assert [(tree / name).read_bytes() for name in ("src/a.py", "config/data.bin")] == changed


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a\nb\n\n\n\nz\n", b"A\nb\n\n\n\nz\n"),  # the patch ends in blank lines
        (b"a\nb\xe9\nc\n", b"A\nb\xe9\nc\n"),  # no UTF-8
        (b"a\r\nb\r\nc\r\n", b"A\r\nb\r\nc\r\n"),
        (b"a\nb", b"a\nc"),  # no newline at the end
    ],
)
def test_bytes_of_any_kind_come_back(tree: Path, tmp_path: Path, before: bytes, after: bytes) -> None:
    (tree / "src/b.py").write_bytes(before)
    run(tree, "add", "-A")
    run(tree, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "second")
    (tree / "src/b.py").write_bytes(after)
    assert keep_patch(tree, tmp_path / "patches") is not None
    (path,) = (tmp_path / "patches").iterdir()
    run(tree, "checkout", "src/b.py")
    run(tree, "apply", str(path))
    assert (tree / "src/b.py").read_bytes() == after


def test_a_change_of_what_no_job_reads_is_no_patch(tree: Path, tmp_path: Path) -> None:
    run(tree, "checkout", "--", "src", "config")
    (tree / "README.md").write_text("a study, described better\n")
    assert keep_patch(tree, tmp_path / "patches") is None


def test_equal_changes_are_kept_once(tree: Path, tmp_path: Path) -> None:
    assert keep_patch(tree, tmp_path / "patches") == keep_patch(tree, tmp_path / "patches")
    assert len(list((tmp_path / "patches").iterdir())) == 1


def test_a_large_patch_is_named_and_not_kept(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patches, "MOST_BYTES", 10)
    found = keep_patch(tree, tmp_path / "patches")
    assert found is not None and not found["kept"] and found["bytes"] > 10
    assert not (tmp_path / "patches").exists()


def test_untracked_code_is_named_and_other_files_are_not(tree: Path) -> None:
    (tree / "src/new.py").write_text("x")
    (tree / "notes.txt").write_text("x")
    assert untracked(tree) == ["src/new.py"]


def test_outside_of_a_repository_there_is_nothing(tmp_path: Path) -> None:
    assert git(tmp_path, "rev-parse", "HEAD") is None
    assert keep_patch(tmp_path, tmp_path / "patches") is None and untracked(tmp_path) == []
