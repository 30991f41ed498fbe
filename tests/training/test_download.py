"""Base models of the hub, from a server on the loopback."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from domains.rust.imports.hub import COMMIT, NAME, Hub, serving
from huggingface_hub import constants, file_download, hf_api, hf_hub_download

from tiebreak.chat import TEMPLATE, Message, render
from tiebreak.errors import TrainingError
from tiebreak.training.download import download_base, model_bytes

OTHER = COMMIT[::-1]


@pytest.fixture
def hub(tmp_path: Path, model_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A hub with the tiny model, whose template is not ours, and a file that nobody needs."""
    files = {path.name: path.read_bytes() for path in model_folder.iterdir()}
    files["chat_template.jinja"] = b"{{ messages }}"
    files["training.bin"] = b"0" * 100
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(file_download.time, "sleep", lambda seconds: None)
    with serving(Hub(files, models=True)) as found:
        template = found.endpoint + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr(constants, "ENDPOINT", found.endpoint)
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        monkeypatch.setattr(hf_api.constants, "ENDPOINT", found.endpoint)
        yield found


def test_a_downloaded_base_speaks_our_chatml(hub: Hub, tmp_path: Path, model_folder: Path) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    download_base(NAME, COMMIT, tmp_path / "base")
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "base")
    messages = [Message(role="system", content="a"), Message(role="user", content="b \n")]
    shown = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    assert (tokenizer.chat_template, shown) == (TEMPLATE, render(messages, generate=True))
    assert not (tmp_path / "base/training.bin").exists()
    AutoModelForCausalLM.from_pretrained(tmp_path / "base")
    weights = sum(path.stat().st_size for path in model_folder.glob("*.safetensors"))
    assert model_bytes(NAME, COMMIT) == weights > 0


@pytest.mark.parametrize("ask", [model_bytes, lambda name, commit: download_base(name, commit, Path("never"))])
def test_what_the_hub_refuses_is_named(hub: Hub, ask: object) -> None:
    assert callable(ask)
    with pytest.raises(
        TrainingError, match=f"model someone/else at {COMMIT}: the hub has no such model, or it is priv"
    ):
        ask("someone/else", COMMIT)
    with pytest.raises(TrainingError, match=f"model {NAME} at {OTHER}: the hub.s model has no such commit"):
        ask(NAME, OTHER)
    hub.gated = True
    with pytest.raises(TrainingError, match="the model is gated; ask for access"):
        ask(NAME, COMMIT)


def test_a_hub_that_cannot_be_reached_is_named(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(TrainingError, match=f"model {NAME} at {COMMIT}: the hub cannot be reached"):
        model_bytes(NAME, COMMIT)
    with pytest.raises(TrainingError, match=f"model {NAME} at {COMMIT}: the hub cannot be reached"):
        download_base(NAME, COMMIT, Path("never"))


def test_a_whole_copy_in_the_cache_is_enough(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = model_bytes(NAME, COMMIT)
    download_base(NAME, COMMIT, tmp_path / "base")
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert model_bytes(NAME, COMMIT) == told
    download_base(NAME, COMMIT, tmp_path / "again")


def test_a_part_of_a_copy_is_no_copy(hub: Hub) -> None:
    """A client has fetched the config alone; then one of two shards is there. Either time the hub is asked."""
    told = model_bytes(NAME, COMMIT)
    folder = Path(hf_hub_download(NAME, "config.json", revision=COMMIT)).parent
    assert model_bytes(NAME, COMMIT) == told > 0
    index = {"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    (folder / "model-1.safetensors").write_bytes(b"0" * 100)
    assert model_bytes(NAME, COMMIT) == told
    (folder / "model-2.safetensors").write_bytes(b"0" * 20)
    assert model_bytes(NAME, COMMIT) == 120, "now the copy is whole, and nobody is asked"


def test_an_adapter_is_refused_in_the_place_of_a_base(hub: Hub, tmp_path: Path) -> None:
    hub.files = {**hub.files, "adapter_config.json": b"{}"}
    for ask in (lambda: model_bytes(NAME, COMMIT), lambda: download_base(NAME, COMMIT, tmp_path / "base")):
        with pytest.raises(TrainingError, match=f"model {NAME} at {COMMIT}: holds an adapter"):
            ask()
    assert not (tmp_path / "base").exists()
