"""Leases of simulated GPUs: never shared, all or none, given back by the dead."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tiebreak import devices
from tiebreak.errors import DeviceError

HOLDER = """
import sys, time
from pathlib import Path
from tiebreak.devices import lease
with lease(int(sys.argv[2]), folder=Path(sys.argv[1]), wait_seconds=20) as found:
    print(",".join(found), flush=True)
    sys.stdin.readline()
"""


@pytest.fixture(autouse=True)
def four(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(devices.SIMULATED, "0,1,2,3")
    monkeypatch.delenv(devices.VISIBLE, raising=False)


def holder(folder: Path, count: int) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", HOLDER, str(folder), str(count)]
    return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


@pytest.fixture
def other(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """Another process that holds three devices, and which."""
    with holder(tmp_path, 3) as process:
        assert process.stdout is not None
        yield process, process.stdout.readline().strip().split(",")
        process.kill()


def test_a_lease_shows_its_devices_and_no_others(tmp_path: Path) -> None:
    with devices.lease(2, folder=tmp_path) as first, devices.lease(2, folder=tmp_path) as second:
        assert sorted(first + second) == ["0", "1", "2", "3"]
        assert os.environ[devices.VISIBLE] == ",".join(second)
    assert devices.VISIBLE not in os.environ
    with devices.lease(4, folder=tmp_path) as found:
        assert found == ["0", "1", "2", "3"]


def test_no_device_is_needed_for_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(devices.SIMULATED, "")
    for count in (0, -1):
        with devices.lease(count, folder=tmp_path / "unmade") as found:
            assert found == [] and devices.VISIBLE not in os.environ
    assert not (tmp_path / "unmade").exists()


def test_two_processes_never_share_a_device(tmp_path: Path, other: tuple[subprocess.Popen[str], list[str]]) -> None:
    with devices.lease(1, folder=tmp_path) as mine:
        assert len(set(mine + other[1])) == 4
    refused = pytest.raises(DeviceError, match="2 of the GPUs 0, 1, 2, 3 did not come free")
    with refused, devices.lease(2, folder=tmp_path, wait_seconds=0):
        pass
    with devices.lease(1, folder=tmp_path, wait_seconds=0) as mine:  # the failed try kept nothing
        assert mine != []


def test_a_killed_process_gives_its_devices_back(
    tmp_path: Path, other: tuple[subprocess.Popen[str], list[str]]
) -> None:
    other[0].send_signal(signal.SIGKILL)
    with devices.lease(4, folder=tmp_path, wait_seconds=20) as found:
        assert found == ["0", "1", "2", "3"]


def test_a_job_that_waits_gets_what_comes_free(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    got: list[str] = []

    def wait() -> None:
        with devices.lease(3, folder=tmp_path, wait_seconds=20) as found:
            got.extend(found)

    with devices.lease(2, folder=tmp_path):
        waiting = threading.Thread(target=wait)
        waiting.start()
        waiting.join(3 * devices.LOOK_SECONDS)
        assert waiting.is_alive() and got == []
    waiting.join()
    assert len(got) == 3
    assert "waiting for 3 of the GPUs 0, 1, 2, 3" in capsys.readouterr().err


def test_many_at_once_get_what_they_asked_for(tmp_path: Path) -> None:
    crowd = [holder(tmp_path, 1 + number % 2) for number in range(4)]  # 1 + 2 + 1 + 2: more than there are
    for process in crowd:
        assert process.stdin is not None
        process.stdin.write("done\n")
        process.stdin.flush()
    said = [process.communicate()[0].strip().split(",") for process in crowd]
    assert [process.returncode for process in crowd] == [0, 0, 0, 0]
    assert sorted(map(len, said)) == [1, 1, 2, 2]


def test_what_names_no_device_ends_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(devices.SIMULATED)
    for value, found in {
        "0,0,1": ["0", "1"],
        "-1": [],
        "NoDevFiles": [],
        "2,-1,3": ["2"],
        "GPU-8f-2a": ["GPU-8f-2a"],
    }.items():
        monkeypatch.setenv(devices.VISIBLE, value)
        assert devices.devices() == found, value


def test_in_an_allocation_the_scheduler_lends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs on different GPUs of a node may all call theirs 0; what shares one allocation still shares no device."""
    with devices.lease(2, folder=tmp_path):
        monkeypatch.setenv(devices.ALLOCATION, "17")
        with devices.lease(2, folder=tmp_path) as first, devices.lease(2, folder=tmp_path) as second:
            assert (first, second) == (["0", "1"], ["2", "3"])
            monkeypatch.setenv(devices.ALLOCATION, "18")
            with devices.lease(4, folder=tmp_path) as found:
                assert found == ["0", "1", "2", "3"]


def test_a_place_where_no_lease_can_be_kept_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "stale" / "gpu-0").mkdir(parents=True)
    for folder, place in (("file", "file"), ("stale", "stale/gpu-0")):
        refused = pytest.raises(DeviceError, match=f"{tmp_path / place}: leases of GPUs cannot be kept there")
        with refused, devices.lease(1, folder=tmp_path / folder):
            pass
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    with pytest.raises(DeviceError, match="it is another user's"), devices.lease(1, folder=tmp_path):
        pass


def test_stale_files_hold_nothing(tmp_path: Path) -> None:
    (tmp_path / "taking").write_text("anything")
    for number in range(4):
        (tmp_path / f"gpu-{number}").write_text(f"{os.getpid()}\n" * 100)
    with devices.lease(4, folder=tmp_path, wait_seconds=0):
        assert (tmp_path / "gpu-3").read_text() == f"{os.getpid()}\n"


FULL = """
import resource, sys
from pathlib import Path
from tiebreak.devices import lease
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
with lease(2, folder=Path(sys.argv[1])) as found:
    print(found)
"""


def test_a_full_disk_takes_the_note_and_not_the_lease(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", FULL, str(tmp_path)], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "['0', '1']\n"), done.stderr
    assert (tmp_path / "gpu-0").read_text() == ""


def test_the_place_does_not_depend_on_who_calls(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = devices.lock_folder()
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert devices.lock_folder() == before


def test_a_program_that_inherits_the_locks_keeps_the_lease(tmp_path: Path) -> None:
    with devices.lease(2, folder=tmp_path):
        held = list(devices.HELD)
        with devices.lease(1, folder=tmp_path):
            assert devices.HELD[:2] == held and len(devices.HELD) == 3
        assert held == devices.HELD
        child = subprocess.Popen(["cat"], stdin=subprocess.PIPE, pass_fds=devices.HELD)
        other = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    assert devices.HELD == []
    with child, other:
        with devices.lease(2, folder=tmp_path, wait_seconds=0) as found:
            assert found == ["2", "3"]
        with pytest.raises(DeviceError), devices.lease(3, folder=tmp_path, wait_seconds=0):
            pass
        child.kill()
        child.wait()
        with devices.lease(4, folder=tmp_path, wait_seconds=0):
            pass
        other.kill()


@pytest.fixture
def smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An nvidia-smi of a machine with three GPUs."""
    monkeypatch.delenv(devices.SIMULATED)
    program = tmp_path / "bin" / "nvidia-smi"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nprintf '%s\\n' 'GPU-8f11-aa, 0' 'GPU-8f22-bb, 1' 'GPU-9c33-cc, 2'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")


@pytest.mark.usefixtures("smi")
def test_a_gpu_has_one_name_however_it_is_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert devices.devices() == ["0", "1", "2"]
    with devices.lease(1, folder=tmp_path / "leases") as whole:
        monkeypatch.setenv(devices.VISIBLE, "GPU-9c,GPU-8f22-bb,0,GPU-8f11-aa")
        assert devices.devices() == ["2", "1", "0"]
        with devices.lease(2, folder=tmp_path / "leases", wait_seconds=0) as found:
            assert (whole, found, os.environ[devices.VISIBLE]) == (["0"], ["2", "1"], "2,1")
            assert os.environ[devices.ORDER] == "PCI_BUS_ID", "numbers are nvidia-smi's"
    monkeypatch.setenv(devices.VISIBLE, "GPU-8f,MIG-1-2/0")  # the beginning of two, and part of one
    assert devices.devices() == ["GPU-8f", "MIG-1-2/0"]
    with devices.lease(2, folder=tmp_path / "leases") as found:
        assert found == ["GPU-8f", "MIG-1-2/0"]


def test_what_is_not_there_is_refused_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DeviceError, match="5 GPUs are needed, 4 are here"), devices.lease(5, folder=tmp_path):
        pass
    monkeypatch.delenv(devices.SIMULATED)
    monkeypatch.setenv(devices.VISIBLE, "6, 7")  # what a scheduler gave
    assert devices.devices() == ["6", "7"]
    with devices.lease(1, folder=tmp_path) as found:
        assert found == ["6"] and os.environ[devices.VISIBLE] == "6"
    assert os.environ[devices.VISIBLE] == "6, 7"
