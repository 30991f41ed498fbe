"""The engine's own half, against a server that speaks the used part of vLLM's protocol over a real model."""

import asyncio
import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tiebreak.engines.adapter import read_adapter
from tiebreak.engines.base import Sampling
from tiebreak.engines.hf import HfEngine
from tiebreak.engines.vllm import Serving, VllmEngine, serve
from tiebreak.errors import EngineError, RequestError

LOOPBACK = Path(__file__).with_name("loopback.py")
SAMPLING = Sampling(0.8, 24, 300)
TEXTS = [
    f"<|im_start|>user\nfix line {n} of the crate, then run it\n<|im_end|>\n\n<|im_start|>assistant\n" for n in range(5)
]


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """What stands for the Python of vLLM's environment."""
    return stand_in(tmp_path)


def stand_in(folder: Path) -> Path:
    """A program that runs the loopback server, whatever module it is asked for."""
    path = folder / "python"
    path.write_text(f'#!/bin/sh\nexec {sys.executable} {LOOPBACK} "$@"\n')
    path.chmod(0o755)
    return path


def tokenizer(folder: Path) -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(folder)


def hf(folder: Path, sampling: Sampling = SAMPLING) -> HfEngine:
    from transformers import AutoModelForCausalLM

    return HfEngine(AutoModelForCausalLM.from_pretrained(folder, dtype="float32"), tokenizer(folder), sampling)


def replies(engine: VllmEngine, seeds: range = range(5)) -> list[Any]:
    """All texts continued at once."""

    async def all_of_them() -> list[Any]:
        async with engine.connected():
            asked = [engine.reply(engine.encode(text), seed) for text, seed in zip(TEXTS, seeds, strict=True)]
            return await asyncio.gather(*asked, return_exceptions=True)

    return asyncio.run(all_of_them())


@pytest.fixture(scope="module")
def engine(model_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[VllmEngine]:
    folder = tmp_path_factory.mktemp("engine")
    serving = Serving(stand_in(folder), model_folder, "float32", "cpu")
    with serve(serving, tokenizer(model_folder), SAMPLING, folder / "log") as found:
        yield found


def test_a_reply_means_what_one_of_the_transformers_engine_means(engine: VllmEngine, model_folder: Path) -> None:
    assert replies(engine) == hf(model_folder).session(5).reply(range(5), TEXTS, range(5))
    described = engine.describe()
    assert described["numbers"] == "statistical" and described["batch_invariant"] is False
    assert described["vllm"] == "loopback" and "--generation-config" in described["flags"]  # type: ignore[operator]


@pytest.mark.parametrize(("faults", "label"), [({}, "bit-exact"), ({"noisy": 1e-6}, "statistical")])
def test_numbers_are_called_exact_where_they_were_seen_to_be(
    python: Path,
    model_folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    faults: dict[str, float],
    label: str,
) -> None:
    monkeypatch.setattr("tiebreak.engines.vllm.is_invariant", bool)  # as on a GPU that has it
    monkeypatch.setenv("LOOPBACK", json.dumps(faults))
    serving = Serving(python, model_folder, "float32", "cpu")
    with serve(serving, tokenizer(model_folder), SAMPLING, tmp_path / "log") as engine:
        assert engine.describe()["numbers"] == label


def test_a_server_of_another_model_is_refused(
    python: Path, model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = hf(model_folder)
    serving, words = Serving(python, model_folder, "float32", "cpu"), plain.tokenizer
    with serve(serving, words, SAMPLING, tmp_path / "log", reference=plain.logprobs):
        pass
    next(plain.model.parameters()).data[5:] *= 1.5
    with (
        pytest.raises(EngineError, match="the engine serves another model than its folder holds"),
        serve(serving, words, SAMPLING, tmp_path / "log", reference=plain.logprobs),
    ):
        pass


def test_limits_cut_a_turn_and_a_full_conversation_is_not_asked(engine: VllmEngine) -> None:
    async def ask(context: list[int]) -> Any:
        async with engine.connected():
            return await engine.reply(context, 5)

    near = asyncio.run(ask([7] * (SAMPLING.max_length - 4)))
    assert len(near.ids) <= 4
    full = asyncio.run(ask([7] * SAMPLING.max_length))
    assert (full.ids, full.text, full.complete) == ([], "", False)


def test_nobody_else_may_ask(engine: VllmEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    assert stat.S_IMODE(engine.server.socket.parent.stat().st_mode) == 0o700
    monkeypatch.setattr(engine.server, "key", "wrong")
    found = replies(engine)
    assert all(isinstance(one, EngineError) and "401" in str(one) for one in found)


def test_what_passes_is_tried_again(
    python: Path, model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOPBACK", json.dumps({"refuse": 3}))
    serving = Serving(python, model_folder, "float32", "cpu")
    with serve(serving, tokenizer(model_folder), SAMPLING, tmp_path / "log") as engine:
        assert replies(engine) == hf(model_folder).session(5).reply(range(5), TEXTS, range(5))


def test_what_stays_is_an_error_of_that_request_alone(
    python: Path, model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tiebreak.engines import client

    monkeypatch.setattr(client, "TRIES", 2)
    monkeypatch.setenv("LOOPBACK", json.dumps({"stuck": "fix line 3"}))
    serving = Serving(python, model_folder, "float32", "cpu")
    with serve(serving, tokenizer(model_folder), SAMPLING, tmp_path / "log") as engine:
        found = replies(engine)
    assert [isinstance(one, RequestError) for one in found] == [False, False, False, True, False]
    assert "2 tries failed, the last with status 503" in str(found[3])


def test_a_server_that_is_gone_is_told_with_its_last_words(
    python: Path, model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOPBACK", json.dumps({"die": 2}))
    serving = Serving(python, model_folder, "float32", "cpu")
    with serve(serving, tokenizer(model_folder), SAMPLING, tmp_path / "log") as engine:
        gone = [one for one in replies(engine) if isinstance(one, EngineError)]
    assert gone and not any(isinstance(one, RequestError) for one in gone)
    assert all("the engine ended with status 3" in str(one) and "loopback serves" in str(one) for one in gone)


def test_a_server_that_does_not_start_is_told_with_the_reason(python: Path, model_folder: Path, tmp_path: Path) -> None:
    serving = Serving(python, tmp_path / "nothing", "float32", "cpu")
    with (
        pytest.raises(EngineError, match=r"(?s)ended with status 1; the last lines of .*log:.*nothing"),
        serve(serving, tokenizer(model_folder), SAMPLING, tmp_path / "log"),
    ):
        pass


def test_a_folder_for_temporary_files_that_is_too_deep_for_a_socket_is_named(
    python: Path, model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / ("d" * 100)
    deep.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(deep))
    serving = Serving(python, model_folder, "float32", "cpu")
    with (
        pytest.raises(EngineError, match="a socket's path has at most 107; let TMPDIR name a shorter folder"),
        serve(serving, tokenizer(model_folder), SAMPLING, tmp_path / "log"),
    ):
        pass


def adapter(base: Path, out: Path, scale: float) -> Path:
    """A LoRA of rank 4 on the model in `base`; scale 0 is a fresh one, which changes nothing."""
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    torch.manual_seed(4)
    model = AutoModelForCausalLM.from_pretrained(base, dtype="float32")
    adapted = get_peft_model(model, LoraConfig(r=4, lora_alpha=8, target_modules=["q_proj", "v_proj"]))
    with torch.no_grad():
        for name, weight in adapted.named_parameters():
            if "lora_B" in name:
                weight.copy_(torch.randn_like(weight) * scale)
    adapted.save_pretrained(out)
    return out


def test_an_adapter_is_served_on_its_base(python: Path, model_folder: Path, tmp_path: Path) -> None:
    from peft import PeftModel

    folder = adapter(model_folder, tmp_path / "adapter", 0.5)
    found = read_adapter(folder, model_folder)
    serving = Serving(python, model_folder, "float32", "cpu", found.rank)
    assert serving.command(SAMPLING)[-2:] == ["--max-lora-rank", "8"]
    with serve(serving, tokenizer(model_folder), SAMPLING, tmp_path / "log", found) as engine:
        got = replies(engine)
        assert engine.describe()["adapter_effect"] == pytest.approx(engine.change) and engine.change > 1e-3
    plain = hf(model_folder)
    plain.model = PeftModel.from_pretrained(plain.model, folder).eval()
    assert got == plain.session(5).reply(range(5), TEXTS, range(5))
    assert got != hf(model_folder).session(5).reply(range(5), TEXTS, range(5))


@pytest.mark.parametrize(("scale", "faults"), [(0.0, {}), (0.5, {"deaf": True})])
def test_an_adapter_that_does_not_act_is_refused(
    python: Path,
    model_folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    scale: float,
    faults: dict[str, Any],
) -> None:
    monkeypatch.setenv("LOOPBACK", json.dumps(faults))
    found = read_adapter(adapter(model_folder, tmp_path / "adapter", scale), model_folder)
    serving = Serving(python, model_folder, "float32", "cpu", found.rank)
    with (
        pytest.raises(EngineError, match="serves the base model in place of this adapter"),
        serve(serving, tokenizer(model_folder), SAMPLING, tmp_path / "log", found),
    ):
        pass


def test_an_adapter_is_loaded_and_dropped_once_though_the_answer_is_lost(
    python: Path, model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOPBACK", json.dumps({"lost": True}))
    found = read_adapter(adapter(model_folder, tmp_path / "adapter", 0.5), model_folder)
    serving = Serving(python, model_folder, "float32", "cpu", found.rank)

    async def load(name: str) -> None:
        async with engine.connected():
            await engine.load(found, name)

    with serve(serving, tokenizer(model_folder), SAMPLING, tmp_path / "log", found) as engine:
        asyncio.run(load("second"))
        assert engine.model == "second" and engine.change > 1e-3
        monkeypatch.setattr(engine, "model", "base")
        with pytest.raises(EngineError, match=r"refused /v1/load_lora_adapter: status 400: .*has already been loaded"):
            asyncio.run(load("second"))  # a name that was there before the first try


HOLDER = """
import sys, time
from pathlib import Path
from tiebreak.engines.server import Server
import os
with Server(sys.argv[1:2] + ["-m", "x", "--model", sys.argv[2]], dict(os.environ), Path(sys.argv[3]), patience=120):
    print("up", flush=True)
    time.sleep(600)
"""


def test_nothing_is_left_of_it_when_its_starter_is_killed(python: Path, model_folder: Path, tmp_path: Path) -> None:
    before = running(b"loopback.py")  # a fixture may have one of the same model
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(python), str(model_folder), str(tmp_path / "log")],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None and holder.stdout.readline() == "up\n"
    mark = str(model_folder).encode()
    servers = [pid for pid in running(b"loopback.py") if mark in command(pid) and pid not in before]
    assert servers
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    for _ in range(300):
        if not any(mark in command(pid) for pid in servers):
            break
        time.sleep(0.1)
    assert not any(mark in command(pid) for pid in servers)


def running(word: bytes) -> list[int]:
    """The processes whose command line holds a word."""
    return [int(path.name) for path in Path("/proc").glob("[0-9]*") if word in command(int(path.name))]


def command(pid: int) -> bytes:
    """A process's command line; empty for one that is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
