"""What the doctor says of a study of a large model: its questions, its model, its stored adapters, its disk."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from domains.rust.imports.hub import COMMIT, NAME, Hub, serving
from huggingface_hub import constants, hf_api

from tiebreak.cli import doctor
from tiebreak.cli.doctor import GIB, SMALL, Finding, look_at_disk
from tiebreak.cli.doctor_study import look_at_adapters, look_at_prime_rl, look_at_study
from tiebreak.paths import Paths
from tiebreak.study import Study, load
from tiebreak.training.disk import TOOL, VLLM, needed

ROOT = Path(__file__).parents[2]
WEIGHTS = b"0" * 1000
Named = Callable[..., Study]


@pytest.fixture
def named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Named:
    """The glyph study on a model of the loopback hub, some keys changed, its results in a folder of their own."""
    monkeypatch.setattr(doctor, "ROOT", tmp_path)

    def made(**changes: Any) -> Study:
        values = yaml.safe_load((ROOT / "config/studies/glyph.yaml").read_text(encoding="utf-8"))
        values |= {"name": "mine"}
        values["model"] |= {"base": NAME, "revision": COMMIT}
        for place, value in changes.items():
            section, _, key = place.partition("__")
            values[section][key] = value
        if "data__source" not in changes:
            values["data"]["source"]["import"]["families"] = str(ROOT / "resources/name_families.json")
        (tmp_path / "mine.yaml").write_text(yaml.safe_dump(values), encoding="utf-8")
        return load(tmp_path / "mine.yaml")

    return made


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    with serving(Hub({"model.safetensors": WEIGHTS, "config.json": b"{}"}, models=True)) as found:
        monkeypatch.setattr(constants, "ENDPOINT", found.endpoint)
        monkeypatch.setattr(hf_api.constants, "ENDPOINT", found.endpoint)
        yield found


def look(study: Study) -> dict[str, Finding]:
    return {finding.subject: finding for finding in look_at_study(study)}


def test_a_study_of_a_hub_model_is_looked_at(hub: Hub, named: Named) -> None:
    found = look(named())
    assert (found["study"].state, found["model"].state) == ("missing", "ok")
    assert "is `ask`: name the commit" in found["study"].found and NAME in found["model"].found


def test_a_model_that_cannot_be_had_is_named(hub: Hub, named: Named, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.gated = True
    gated = look(named())["model"]
    assert gated.state == "missing" and "the model is gated; ask for access, and set HF_TOKEN" in gated.found
    hub.gated = False
    absent = look(named(model__base="someone/else"))["model"]
    assert absent.state == "missing" and "the hub has no such model, or it is private" in absent.found
    hub.files = {"config.json": b"{}", "pytorch_model.bin": WEIGHTS}
    assert "has no weights as .safetensors" in look(named())["model"].found
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr(hf_api.constants, "ENDPOINT", "http://127.0.0.1:9")
    away = look(named())["model"]
    assert away.state == "missing" and "the hub cannot be reached" in away.found and "HF_ENDPOINT" in away.found


def test_disk_that_cannot_be_estimated_is_told(named: Named, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr(hf_api.constants, "ENDPOINT", "http://127.0.0.1:9")
    found = look(named())["disk"]
    assert found.state == "warning" and "not compared: the size of the model is not known" in found.found


def test_imported_data_that_is_not_there_is_named(hub: Hub, named: Named, tmp_path: Path) -> None:
    whole = {"dataset": "./specs", "specs": "a/specs.jsonl", "families": None}
    study = named(data__source={"import": whole | {"families": str(tmp_path / "families.json")}})
    found = [finding for finding in look_at_study(study) if finding.subject == "data"]
    assert [finding.found.rpartition("/")[2] for finding in found] == [
        "families.json is not there",
        "specs.jsonl is not there",
    ]
    (tmp_path / "specs/a").mkdir(parents=True)
    (tmp_path / "specs/a/specs.jsonl").touch()
    (tmp_path / "families.json").touch()
    assert "data" not in look(study)


def test_what_installs_prime_rl_is_looked_for(named: Named, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda program: None if program == "uv" else f"/bin/{program}")
    (found,) = look_at_prime_rl(named())
    assert found.state == "missing" and found.found.startswith("uv is not on PATH") and "pip install uv" in found.mend
    (stamp,) = named().tools()
    (tmp_path / stamp).parent.mkdir(parents=True)
    (tmp_path / stamp).touch()
    assert list(look_at_prime_rl(named())) == []
    assert list(look_at_prime_rl(load("laptop", ROOT))) == []


def test_an_adapter_in_the_models_place_is_named(hub: Hub, named: Named, tmp_path: Path) -> None:
    hub.files = {"adapter_config.json": b"{}", "adapter_model.safetensors": WEIGHTS}
    found = look(named())["model"]
    assert found.state == "missing" and "holds an adapter (adapter_config.json), not a model" in found.found


def test_a_small_study_asks_for_nothing_of_this() -> None:
    found = look(load("laptop", ROOT))
    assert found.keys() == {"model", "disk"} and found["model"].state == "ok"
    assert "resources/base/model" in found["model"].found


def test_ids_that_the_base_does_not_have_are_named(named: Named, tmp_path: Path) -> None:
    base = Paths("mine", tmp_path / "results").base
    base.mkdir(parents=True)
    (base / "config.json").write_text(json.dumps({"vocab_size": 151_936}))
    assert look(named())["model"].state == "ok"
    (base / "config.json").write_text(json.dumps({"vocab_size": 32_000}))
    found = look(named())["model"]
    assert found.state == "missing" and "rlvr.prime_rl.vocabulary is 151936, the model in" in found.found


def test_disk_is_estimated_from_the_weights_and_what_is_there(named: Named, tmp_path: Path) -> None:
    study, weights = named(), 8 * GIB
    of_adapters = 15 * weights * 64 // 512
    assert sum(needed(study, weights, tmp_path).values()) == TOOL + VLLM + 9 * weights + of_adapters
    everything = sum(needed(study, weights, tmp_path, at_once=15).values())
    assert everything == TOOL + VLLM + (3 + 45) * weights + of_adapters, "on a cluster all trainings run at once"
    paths = Paths("mine", tmp_path / "results")
    for folder in (paths.base, paths.model("sft")):
        folder.mkdir(parents=True)
        (folder / "config.json").write_text("{}")
    (tmp_path / "results/.tools/vllm-0123456789ab").mkdir(parents=True)
    (tmp_path / "results/.tools/vllm-0123456789ab/installed.json").write_text("{}")
    assert needed(study, weights, tmp_path).keys() == {"prime-rl's environment", "checkpoints", "trained models"}
    for run in study.trained_runs:
        paths.model(run).mkdir(parents=True)
    assert needed(study, weights, tmp_path) == {"prime-rl's environment": TOOL}


def test_all_weights_are_trained_and_kept_without_an_adapter(named: Named, tmp_path: Path) -> None:
    study = named(rlvr__trainer="trl", rlvr__lora_rank=0, model__device="cpu")
    parts = needed(study, GIB, tmp_path)
    assert (parts["trained models"], parts["checkpoints"]) == (15 * GIB, 6 * GIB)
    assert "prime-rl's environment" not in parts


def test_too_little_disk_is_missing_with_what_takes_it() -> None:
    parts = {"the SFT model": 8 * GIB, "checkpoints": 48 * GIB}
    found = look_at_disk(50 * GIB, parts)
    assert (found.state, found.found) == ("missing", "50.0 GiB free")
    assert found.mend.startswith("the study may still take 61 GiB (tables and records 5, the SFT model 8, checkpoints")
    found = look_at_disk(SMALL + 56 * GIB, parts)
    assert found.state == "ok"
    found = look_at_disk(GIB)
    assert found.state == "warning"


def test_a_stored_adapter_of_another_model_is_missing(named: Named, tmp_path: Path) -> None:
    model = Paths("mine", tmp_path / "results").model("dense-seed0")
    model.mkdir(parents=True)
    (model / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": "Qwen/Qwen3-8B", "r": 8}))
    found = {finding.subject: finding for finding in look_at_adapters(named())}["adapter"]
    assert found.state == "missing" and "was trained on Qwen/Qwen3-8B, the model here is" in found.found


def test_gpus_that_the_cpu_build_of_torch_cannot_use_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    if torch.version.cuda is not None:
        pytest.skip("this torch can use GPUs")
    monkeypatch.setenv("TIEBREAK_DEVICES", "0,1")
    found = {finding.subject: finding for finding in doctor.look_at_torch(gpus_needed=1)}["gpus"]
    assert found.state == "missing" and found.found.startswith("2 (0, 1), and 2.") and "TIEBREAK_TORCH" in found.mend


def test_a_study_without_rust_asks_for_no_rust(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert {"rustc", "cargo", "linker"} & subjects("config/test/fathom-minute.yaml") == set()
    assert {"rustc", "cargo", "linker"} <= subjects("laptop") & subjects(None)


def subjects(study: str | None) -> set[str]:
    return {finding.subject for finding in doctor.examine(study)}
