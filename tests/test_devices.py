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
    with devices.lease(0, folder=tmp_path / "unmade") as found:
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
    """Jobs on different GPUs of a node may all call theirs 0."""
    monkeypatch.setenv(devices.ALLOCATION, "17")
    with devices.lease(2, folder=tmp_path / "one") as first, devices.lease(2, folder=tmp_path / "one") as second:
        assert first == second == ["0", "1"]
    assert not (tmp_path / "one").exists()


def test_a_place_where_no_lease_can_be_kept_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(DeviceError, match="file: leases of GPUs cannot be kept there"),
        devices.lease(1, folder=tmp_path / "file"),
    ):
        pass


def test_what_is_not_there_is_refused_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DeviceError, match="5 GPUs are needed, 4 are here"), devices.lease(5, folder=tmp_path):
        pass
    monkeypatch.delenv(devices.SIMULATED)
    monkeypatch.setenv(devices.VISIBLE, "6, 7")  # what a scheduler gave
    assert devices.devices() == ["6", "7"]
    with devices.lease(1, folder=tmp_path) as found:
        assert found == ["6"] and os.environ[devices.VISIBLE] == "6"
    assert os.environ[devices.VISIBLE] == "6, 7"
