"""What all tests share: fixed threads, no deadlines (the machine may be busy), and a tiny model with real cases."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

settings.register_profile("tiebreak", deadline=None)
settings.load_profile("tiebreak")


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--states N`: how many crate states of each source the ways to a verdict are compared on. `--sandbox host`: hold
    the host backend, which confines nothing, against the conformance suite of sandboxes. `--slurm`: run the whole
    minute study through Slurm.
    """
    parser.addoption("--states", type=int, default=20, help="crate states of each source to compare the ways on")
    backends = ("bubblewrap", "host")
    parser.addoption("--prime-rl", metavar="PATH", help="a checkout of prime-rl to hold its configurations against")
    parser.addoption("--prime-rl-python", metavar="PATH", help="its Python (default: .venv/bin/python in it)")
    parser.addoption(
        "--openenv", metavar="PYTHON", help="a Python with requirements/openenv.txt to test the server with"
    )
    parser.addoption("--sessions", type=int, default=20, help="sessions at once in the test of the server")
    for generation in ("01", "04"):
        words = f"a Python with verifiers 0.{generation[1]}, for rollouts through the environment"
        parser.addoption(f"--verifiers-{generation}", metavar="PYTHON", help=words)
    parser.addoption("--sandbox", choices=backends, default=backends[0], help="the backend that escapes are tried on")
    parser.addoption("--vllm", metavar="PYTHON", help="the Python of an environment with vLLM, for the real server")
    parser.addoption("--slurm", action="store_true", help="also run the whole minute study through Slurm")


@pytest.fixture(scope="session")
def cases() -> list[Any]:
    """A few generated Rust cases."""
    from tiebreak.domains.rust.generator import generate

    return list(generate("all", 6, 11))


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory: pytest.TempPathFactory, cases: list[Any]) -> Path:
    """A tiny Qwen3 with random weights and its tokenizer, as a folder."""
    import torch

    from tiebreak.domains.rust.corpus import PROTOCOL_STRINGS
    from tiebreak.training.base import save
    from tiebreak.training.tiny import new_model, tiny_config
    from tiebreak.training.tokenizer import train_tokenizer

    torch.set_num_threads(1)
    texts = [case.files[case.source_path] + case.user for case in cases]
    tokenizer = train_tokenizer(texts, 500, PROTOCOL_STRINGS)
    config = tiny_config(tokenizer, hidden=32, layers=1, heads=2, kv_heads=2, feed_forward=48, rope_theta=500.0)
    folder = tmp_path_factory.mktemp("model")
    save(new_model(config, 1), tokenizer, folder)
    return folder
