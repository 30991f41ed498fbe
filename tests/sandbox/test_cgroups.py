"""cgroup v2: where the place is found, what is written there, and that nothing is left.

Most of it on a folder that looks like a hierarchy; `test_a_real_group…` wants a delegated one and is skipped elsewhere.
"""

import os
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tiebreak.errors import SandboxError
from tiebreak.sandbox import cgroups
from tiebreak.sandbox.bubblewrap import Box
from tiebreak.sandbox.cgroups import JUDGES, PREFIX, Place
from tiebreak.sandbox.limits import MIB, Limits
from tiebreak.sandbox.process import run

MOUNTS = """\
24 1 0:22 / /proc rw,relatime - proc proc rw
31 24 0:27 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate
"""
LIMITS = Limits(memory_bytes=100 * MIB, tmpfs_bytes=4 * MIB, processes=10)


@pytest.fixture
def hierarchy(tmp_path: Path) -> Path:
    """A folder that looks like a delegated cgroup with both controllers, and processes of its own."""
    top = tmp_path / "top"
    top.mkdir()
    (top / "cgroup.controllers").write_text("cpu memory pids\n")
    (top / "cgroup.subtree_control").write_text("memory pids\n")
    (top / "cgroup.procs").write_text("")
    return top


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What is written into cgroups' files: they exist in a real hierarchy, and not in a folder."""
    found: dict[str, str] = {}
    monkeypatch.setattr(cgroups, "_write", lambda path, value: found.update({path.name: value}))
    return found


@pytest.fixture
def used(hierarchy: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The hierarchy as the place of sandboxes."""
    monkeypatch.setattr(cgroups, "place", lambda: Place(hierarchy))
    yield hierarchy


@pytest.mark.parametrize("own", ["/", "/a.slice/b.scope"])
def test_the_own_cgroup_is_found(own: str) -> None:
    assert cgroups._own(MOUNTS, f"4:memory:/old\n0::{own}\n") == Place(Path("/sys/fs/cgroup", own.lstrip("/")))


def test_without_a_second_version_there_is_no_place() -> None:
    assert cgroups._own(MOUNTS.splitlines()[0], "0::/\n") == Place(None, "no cgroup v2")
    assert cgroups._own(MOUNTS, "4:memory:/x\n") == Place(None, "no cgroup v2")


def test_a_delegated_cgroup_is_the_place(hierarchy: Path) -> None:
    assert cgroups.ready(hierarchy) == Place(hierarchy)
    (hierarchy / JUDGES).mkdir()
    assert cgroups.ready(hierarchy / JUDGES) == Place(hierarchy)


def test_missing_controllers_are_named(hierarchy: Path) -> None:
    (hierarchy / "cgroup.controllers").write_text("cpu pids hugetlb\n")
    assert cgroups.ready(hierarchy) == Place(None, "cgroup v2 without memory")


def test_what_was_not_delegated_is_left_alone(hierarchy: Path) -> None:
    (hierarchy.parent / "cgroup.procs").write_text("")  # so it is no root of a hierarchy
    (hierarchy / "cgroup.subtree_control").write_text("")
    if os.geteuid() != 0:
        hierarchy.chmod(0o555)
    found = cgroups.ready(hierarchy)
    hierarchy.chmod(0o755)
    assert found.folder is None and "not delegated" in found.why
    assert (hierarchy / "cgroup.subtree_control").read_text() == ""
    assert not (hierarchy / JUDGES).exists()


def test_controllers_are_handed_down(hierarchy: Path) -> None:
    (hierarchy / "cgroup.subtree_control").write_text("")
    assert cgroups.ready(hierarchy) == Place(hierarchy)
    assert (hierarchy / "cgroup.subtree_control").read_text() == "+memory +pids"


def test_processes_that_are_in_the_way_move_down(hierarchy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (hierarchy / "cgroup.subtree_control").write_text("")
    (hierarchy / "cgroup.procs").write_text("11\n12\n")
    moved: list[str] = []
    real = Path.write_text

    def write(path: Path, text: str, *more: object) -> int:
        if path == hierarchy / "cgroup.subtree_control" and len(moved) < 2:
            raise OSError(16, "Device or resource busy")
        if path == hierarchy / JUDGES / "cgroup.procs":
            moved.append(text)
        return real(path, text)

    monkeypatch.setattr(Path, "write_text", write)
    assert cgroups.ready(hierarchy) == Place(hierarchy)
    assert moved == ["11", "12"]


def test_what_a_killed_judge_left_is_swept(hierarchy: Path) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    (hierarchy / f"{PREFIX}{ended.pid}-0").mkdir()
    (hierarchy / f"{PREFIX}{os.getpid()}-0").mkdir()
    cgroups.ready(hierarchy)
    assert [path.name for path in hierarchy.glob(f"{PREFIX}*")] == [f"{PREFIX}{os.getpid()}-0"]


def test_a_group_has_its_limits_and_is_removed(used: Path, written: dict[str, str]) -> None:
    with cgroups.group(LIMITS) as folder:
        assert folder is not None and folder.parent == used and folder.is_dir()
        cgroups.enter(folder, 4321)
    assert list(used.glob(f"{PREFIX}*")) == []
    assert written == {
        "memory.max": str((100 + 4 + 64) * MIB),
        "memory.oom.group": "1",
        "pids.max": "12",
        "cgroup.procs": "4321",
    }


def test_the_limits_of_a_group_lie_above_those_of_a_process() -> None:
    found = cgroups.settings(LIMITS)
    assert int(found["memory.max"]) > LIMITS.memory_bytes + LIMITS.tmpfs_bytes
    assert int(found["pids.max"]) > LIMITS.processes


def test_a_group_that_cannot_be_made_is_an_error_with_its_mend(used: Path) -> None:
    with pytest.raises(SandboxError, match="TIEBREAK_CGROUPS=off"), cgroups.group(LIMITS):
        pytest.fail("its files are not there, so it has no limits")  # a folder makes no files of its own
    assert list(used.glob(f"{PREFIX}*")) == []


def test_a_sandbox_that_cannot_enter_does_not_run(used: Path, written: dict[str, str], tmp_path: Path,
                                                  monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    def refuse(folder: Path | None, process: int) -> None:
        raise SandboxError("it cannot enter")

    monkeypatch.setattr(cgroups, "enter", refuse)
    with pytest.raises(SandboxError, match="it cannot enter"):
        run(["/bin/bash", "-c", "echo >/mnt/ran"], Box(writable=((str(tmp_path), "/mnt"),)), LIMITS)
    assert not (tmp_path / "ran").exists()
    assert list(used.glob(f"{PREFIX}*")) == []


def test_each_run_enters_a_group_of_its_own(used: Path, written: dict[str, str]) -> None:
    assert run(["/bin/bash", "-c", "exit 3"], Box(), LIMITS).code == 3
    assert int(written["cgroup.procs"]) > 0
    assert list(used.glob(f"{PREFIX}*")) == []


def test_they_can_be_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cgroups.SWITCH, "off")
    cgroups.place.cache_clear()
    try:
        assert cgroups.place() == Place(None, "switched off by TIEBREAK_CGROUPS")
    finally:
        cgroups.place.cache_clear()


@pytest.mark.skipif(cgroups.place().folder is None, reason=f"no delegated cgroup here: {cgroups.place().why}")
def test_a_real_group_bounds_the_sum_over_processes() -> None:
    script = "for i in 1 2 3 4 5 6; do (x=$(head -c 60000000 /dev/zero | tr '\\0' a); sleep 5) & done; wait; echo all"
    limits = replace(LIMITS, processes=64, wall_seconds=30)
    result = run(["/bin/bash", "-c", script], Box(environment=(("PATH", "/usr/bin:/bin"),)), limits)
    assert b"all" not in result.stdout and not result.ok
    top = cgroups.place().folder
    assert top is not None and list(top.glob(f"{PREFIX}{os.getpid()}-*")) == []
