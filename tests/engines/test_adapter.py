"""An adapter that cannot be served is refused by its folder alone."""

import json
from pathlib import Path
from typing import Any

import pytest

from tiebreak.engines.adapter import Adapter, is_adapter, read_adapter, smallest_rank
from tiebreak.errors import EngineError

GOOD = {"peft_type": "LORA", "r": 16, "base_model_name_or_path": "model"}


def written(folder: Path, **changes: Any) -> Path:
    config = GOOD | {"base_model_name_or_path": str(folder / "model")} | changes
    (folder / "adapter_config.json").write_text(json.dumps(config))
    return folder


def test_a_plain_lora_of_this_base_is_taken(tmp_path: Path) -> None:
    assert not is_adapter(tmp_path)
    found = read_adapter(written(tmp_path, rank_pattern={"q_proj": 40}), tmp_path / "model")
    assert found == Adapter(tmp_path, 40, tmp_path / "model") and is_adapter(tmp_path)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"base_model_name_or_path": "other/model"}, "was trained on other/model, the model here is"),
        ({"r": 1024}, "the adapter's rank is 1024, the engine serves ranks up to 512; lower it"),
        ({"rank_pattern": {"q_proj": 513}}, "the adapter's rank is 513"),
        ({"use_dora": True}, "without DoRA"),
        ({"modules_to_save": ["lm_head"]}, "modules_to_save"),
        ({"peft_type": "IA3"}, "the engine serves plain LoRA"),
        ({"r": None}, "cannot be read as PEFT's"),
    ],
)
def test_what_no_server_takes_is_refused(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    with pytest.raises(EngineError, match=words):
        read_adapter(written(tmp_path, **changes), tmp_path / "model")


def test_a_folder_without_a_readable_config_is_named(tmp_path: Path) -> None:
    (tmp_path / "adapter_config.json").write_text("{")
    with pytest.raises(EngineError, match="export the adapter anew"):
        read_adapter(tmp_path, tmp_path)


@pytest.mark.parametrize(("rank", "limit"), [(1, 8), (8, 8), (9, 16), (64, 64), (257, 320), (512, 512)])
def test_the_limit_is_the_least_that_admits_the_rank(rank: int, limit: int) -> None:
    assert smallest_rank(rank) == limit
