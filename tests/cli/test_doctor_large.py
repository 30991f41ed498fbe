"""What the doctor says of a study of a large model: its questions, its model at the hub, its disk."""

from pathlib import Path

import pytest
from domains.rust.imports.hub import COMMIT, NAME, Hub, serving
from huggingface_hub import constants, hf_api

from tiebreak.cli import doctor
from tiebreak.cli.doctor import GIB, SMALL, TOOL, large_bytes, look_at_disk, look_at_study
from tiebreak.study import load

ROOT = Path(__file__).parents[2]
WEIGHTS = b"0" * 1000


def study(tmp_path: Path) -> str:
    """The glyph study on a model of the loopback hub."""
    text = (ROOT / "config/studies/glyph.yaml").read_text(encoding="utf-8")
    revision = text.partition("revision: ")[2]
    assert revision.startswith("ask")
    path = tmp_path / "mine.yaml"
    text = text.replace("name: glyph", "name: mine").replace("Qwen/Qwen3-4B-Base", NAME)
    path.write_text(text.replace("906bfd4b4dc7f14ee4320094d8b41684abff8539", COMMIT), encoding="utf-8")
    return str(path)


def test_a_study_of_a_hub_model_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    with serving(Hub({"model.safetensors": WEIGHTS, "config.json": b"{}"}, models=True)) as hub:
        monkeypatch.setattr(constants, "ENDPOINT", hub.endpoint)
        monkeypatch.setattr(hf_api.constants, "ENDPOINT", hub.endpoint)
        found = {finding.subject: finding for finding in look_at_study(study(tmp_path))}
        assert (found["study"].state, found["model"].state) == ("missing", "ok")
        assert "is `ask`: name the commit" in found["study"].found and NAME in found["model"].found
        hub.gated = True
        gated = {finding.subject: finding for finding in look_at_study(study(tmp_path))}["model"]
        assert gated.state == "missing" and "the model is gated; ask for access" in gated.found


def test_a_small_study_asks_for_nothing_of_this() -> None:
    assert [finding.subject for finding in look_at_study("laptop")] == ["disk"]


def test_disk_is_estimated_from_the_weights(tmp_path: Path) -> None:
    weights = 8 * GIB
    assert large_bytes(load(study(tmp_path)), weights) == TOOL + 9 * weights
    assert look_at_disk(50 * GIB, SMALL + TOOL + 9 * weights).state == "missing"
    assert look_at_disk(200 * GIB, SMALL + TOOL + 9 * weights).state == "ok"
    assert doctor.look_at_disk(GIB).state == "warning"
