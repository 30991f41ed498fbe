"""Where vLLM is looked for, and what its processes are told."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tiebreak.engines import vllm_machine
from tiebreak.engines.vllm_machine import capability, environment, find_python, gpu_names, is_invariant
from tiebreak.errors import EngineError


@pytest.fixture
def gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An nvidia-smi that tells what stands in a file, and leaves how it was called."""
    tool = tmp_path / "nvidia-smi"
    tool.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/asked\ncat {tmp_path}/told\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    for asking in (capability, gpu_names):
        asking.cache_clear()
    yield tmp_path
    for asking in (capability, gpu_names):
        asking.cache_clear()


@pytest.mark.parametrize(
    ("told", "found"), [("9.0\n", True), ("10.0\n9.0\n", True), ("9.0\n8.0\n", False), ("", False), ("[N/A]", False)]
)
def test_batch_invariance_is_on_where_every_gpu_has_it(
    gpu: Path, monkeypatch: pytest.MonkeyPatch, told: str, found: bool
) -> None:
    (gpu / "told").write_text(told)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,3")
    assert is_invariant("cuda") is found
    assert "-i 2,3" in (gpu / "asked").read_text()
    assert environment("cuda")["VLLM_BATCH_INVARIANT"] == str(int(found))
    assert not is_invariant("cpu") and environment("cpu")["VLLM_BATCH_INVARIANT"] == "0"


@pytest.mark.parametrize(
    ("told", "found"), [("NVIDIA H200\nNVIDIA H200\n", ("NVIDIA H200",)), ("B\nA\n", ("A", "B")), ("", ())]
)
def test_the_kinds_of_gpus_are_told(gpu: Path, told: str, found: tuple[str, ...]) -> None:
    (gpu / "told").write_text(told)
    assert gpu_names() == found
    assert "--query-gpu=name" in (gpu / "asked").read_text()


def test_its_processes_see_none_of_our_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "src")
    monkeypatch.setenv("VIRTUAL_ENV", ".venv")
    found = environment("cpu")
    assert not {"PYTHONPATH", "VIRTUAL_ENV"} & set(found)
    assert (found["HF_HUB_OFFLINE"], found["VLLM_NO_USAGE_STATS"]) == ("1", "1")


def test_the_users_own_environment_goes_before_the_installed_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(vllm_machine.PYTHON, raising=False)
    installed, own = tmp_path / "installed", tmp_path / "own"
    with pytest.raises(EngineError, match="vLLM is not installed; run `./dev snakemake --cores 1 vllm`"):
        find_python(installed)
    for path in (installed, own):
        path.write_text("")
        path.chmod(0o755)
    assert find_python(installed) == installed
    monkeypatch.setenv(vllm_machine.PYTHON, str(own))
    assert find_python(installed) == own
    own.unlink()
    with pytest.raises(EngineError, match="TIEBREAK_VLLM_PYTHON is .*own; the Python of an environment with vLLM"):
        find_python(installed)
