"""The soak in its short form (`./dev python tests/soak/soak.py` is the long one), and that it sees what is broken."""

import importlib
import os
import subprocess
import sys
from collections import deque
from multiprocessing import Pipe
from pathlib import Path
from types import ModuleType

import pytest

from tiebreak.domains.rust.verdicts import Verdict
from tiebreak.sandbox.cache import Cache, key_of

SOAK = Path(__file__).with_name("soak.py")
GOOD = Verdict(True, False, "out\n", "", compiled=True, phase=4)
BAD = Verdict(False, False, "out\n", "", compiled=True, phase=4)
ENDLESS = Verdict(False, True, "", "", compiled=True, phase=4)
LATE = Verdict(False, True, "", "", compiled=True, phase=4, late=True)


@pytest.mark.slow
def test_a_short_soak_keeps_its_promises() -> None:
    environment = os.environ | {"PYTHONPATH": str(SOAK.parents[2] / "src")}
    command = [sys.executable, str(SOAK), "--calls", "150", "--workers", "2", "--seed", "1"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("soak: 150 calls on ") and "one worker killed" in done.stdout


@pytest.fixture
def soak(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script as a module."""
    monkeypatch.syspath_prepend(str(SOAK.parent))
    return importlib.import_module("soak")


def test_a_wrong_verdict_is_seen(soak: ModuleType) -> None:
    assert soak.agree(GOOD, GOOD) and not soak.agree(BAD, GOOD) and not soak.agree(GOOD, BAD)
    assert soak.agree(LATE, ENDLESS) and soak.agree(LATE, LATE)
    assert not soak.agree(GOOD, ENDLESS) and not soak.agree(GOOD, LATE) and not soak.agree(LATE, GOOD)


def test_the_work_of_a_killed_worker_is_done_again(soak: ModuleType) -> None:
    with subprocess.Popen(["sleep", "60"]) as process:
        ours, theirs = Pipe()
        worker = soak.Worker(process, ours, [("hello", 1)])
        state = soak.Soak(deque(), {}, 1, killed=process.pid)
        process.kill()
        soak.bury(worker, state)
        assert list(state.jobs) == [[("hello", 1)]]
        theirs.close()
        with pytest.raises(soak.Broken, match="no worker fails"):
            soak.bury(worker, soak.Soak(deque(), {}, 1))


def test_a_stray_process_is_seen(soak: ModuleType) -> None:
    with subprocess.Popen(["sleep", "60"]) as process:
        with pytest.raises(soak.Broken, match=f"no stray process.*{process.pid} sleep 60"):
            soak.check_processes(seconds=0)
        process.kill()


def test_a_stray_file_is_seen(soak: ModuleType, tmp_path: Path) -> None:
    soak.check_files(tmp_path)
    (tmp_path / "left").write_text("")
    with pytest.raises(soak.Broken, match="no stray file.*left"):
        soak.check_files(tmp_path)


def test_a_damaged_record_is_seen(soak: ModuleType, tmp_path: Path) -> None:
    Cache(tmp_path).put_many({key_of(bytes([number])): bytes(100) for number in range(5)})
    assert soak.check_records(tmp_path, None) == 5
    (segment,) = tmp_path.glob("*.segment")
    whole = segment.read_bytes()
    segment.write_bytes(whole[:-3])
    assert soak.check_records(tmp_path, os.getpid()) == 4  # the killed one may leave a torn end
    with pytest.raises(soak.Broken, match="the cache is intact"):
        soak.check_records(tmp_path, None)
    segment.write_bytes(whole[:60] + b"\xff" + whole[61:])
    with pytest.raises(soak.Broken, match="the cache is intact"):
        soak.check_records(tmp_path, os.getpid())
