"""The glyph study: its values, what a large study adds to a section, and what it leaves as it was."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tiebreak.domains.rust.imports.families import read_families
from tiebreak.errors import ConfigError
from tiebreak.preflight import check_named
from tiebreak.sections.sft import Sft
from tiebreak.study import load
from tiebreak.training.sft import recipe_of

ROOT = Path(__file__).parents[1]
GLYPH: dict[str, Any] = yaml.safe_load((ROOT / "config/studies/glyph.yaml").read_text())
FOR_LARGE = ("dtype", "large", "lora", "prime_rl")


def mine(tmp_path: Path, **changes: Any) -> Path:
    """The glyph study with some keys of its sections changed, as a file."""
    study = json.loads(json.dumps(GLYPH)) | {"name": "mine"}
    for place, value in changes.items():
        section, _, key = place.partition("__")
        study[section][key] = value
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(study))
    return path


def test_the_published_recipe_is_complete() -> None:
    study = load("glyph", ROOT)
    recipe = recipe_of(study.sft)
    assert (study.model.base, study.model.revision) == (
        "Qwen/Qwen3-4B-Base",
        "906bfd4b4dc7f14ee4320094d8b41684abff8539",
    )
    assert (recipe.epochs, recipe.batch, recipe.accumulation, recipe.learning_rate) == (3, 1, 8, 2e-5)
    assert recipe.checkpointing and study.sft.large is not None and study.sft.large.max_length == 12_000
    rlvr = study.rlvr
    assert (rlvr.trainer, rlvr.steps, rlvr.prompts * rlvr.group, rlvr.group) == ("prime-rl", 30, 96, 8)
    assert (rlvr.temperature, rlvr.turn_tokens, rlvr.tool_rounds, rlvr.anchor) == (0.8, 4000, 15, 0.2)
    assert (rlvr.lora_rank, rlvr.lora_alpha, rlvr.training_seeds) == (64, 128.0, 5)
    evaluation = study.evaluation
    assert (study.data.splits.holdout, evaluation.k, evaluation.repetitions) == (150, 8, 3)
    assert (evaluation.temperature, evaluation.tool_rounds, study.model.max_length) == (0.8, 20, 24_576)
    assert [study.gpus(stage) for stage in ("sft", "rlvr", "evaluation")] == [1, 4, 1]
    assert list(study.arms) == ["sparse", "dense", "compiler"]
    assert len(read_families(ROOT / str(study.data.source.imported and study.data.source.imported.families))) == 8


def test_the_published_study_has_one_seed_and_is_else_the_same() -> None:
    published, full = (load(name, ROOT).model_dump() for name in ("glyph-published", "glyph"))
    assert published.pop("name") == "glyph-published" and full.pop("name") == "glyph"
    assert (published["rlvr"].pop("training_seeds"), full["rlvr"].pop("training_seeds")) == (1, 5)
    assert published == full


@pytest.mark.parametrize("name", ["laptop", "config/test/minute.yaml", "config/test/import.yaml"])
def test_what_a_large_study_needs_is_no_parameter_of_a_small_one(name: str) -> None:
    parts = load(name, ROOT).parts()
    assert [key for section in ("model", "sft", "rlvr") for key in FOR_LARGE if key in parts[section]] == []
    large = load("glyph", ROOT).parts()
    assert {key for section in ("model", "sft", "rlvr") for key in large[section]} >= set(FOR_LARGE)


def test_a_small_study_trains_as_before() -> None:
    recipe = recipe_of(Sft(batch=8))
    assert (recipe.batch, recipe.accumulation, recipe.checkpointing) == (8, 1, False)
    assert (recipe.schedule, recipe.decay_steps(100)) == ("warmup_stable_decay", {"num_decay_steps": 30})


def test_the_datasets_commit_is_asked_for_before_the_first_job(tmp_path: Path) -> None:
    study = load("glyph", ROOT)
    with pytest.raises(
        ConfigError, match="study glyph: data.source.import.revision is `ask`: name the commit of datas"
    ):
        check_named(study)
    source = {"import": GLYPH["data"]["source"]["import"] | {"revision": "0" * 40}}
    check_named(load(mine(tmp_path, data__source=source)))
    check_named(load("laptop", ROOT))


def test_an_adapter_in_the_place_of_the_base_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "adapter_config.json").write_text('{"base_model_name_or_path": "Qwen/Qwen3-4B-Base"}')
    with pytest.raises(ConfigError, match=f"base {tmp_path} is an adapter of Qwen/Qwen3-4B-Base, not a model"):
        load(mine(tmp_path, model__base=str(tmp_path)))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"rlvr__lora_rank": 1024}, "rlvr: lora_rank is 1024; the engine serves ranks up to 512"),
        ({"rlvr__lora_rank": 48}, "rlvr: trainer is prime-rl and lora_rank 48; its server takes one of 8, 16, 32, 64"),
        ({"rlvr__prime_rl": None}, "rlvr: trainer is prime-rl and there is no prime_rl"),
        ({"rlvr__gpus": 2}, "rlvr: gpus is 2; prime_rl asks for 4"),
        (
            {"rlvr__prime_rl": {"commit": "0" * 40}},
            "rlvr.prime_rl.commit is .*'97872d3e05993028e7507423f55938fb2013f598'",
        ),
        (
            {"rlvr__prime_rl": {"stop_tokens": [151_700]}},
            "rlvr.prime_rl: stop_tokens holds 151700, tokenizer_size is 15",
        ),
        ({"rlvr__prime_rl": {"vocabulary": 10}}, "rlvr.prime_rl: tokenizer_size is 151669, vocabulary 10"),
        ({"sft__large": {"micro_batch": 3}}, "sft: batch is 8, large.micro_batch 3; it must divide batch"),
        (
            {"data__source": {"import": {"dataset": ".", "revision": "ask"}}},
            "dataset . is a folder here: leave revision",
        ),
        (
            {"data__source": {"import": {"dataset": "a/b"}}},
            "so it is a dataset of the hub: name its commit in revision",
        ),
    ],
)
def test_what_cannot_be_trained_is_refused(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        load(mine(tmp_path, **changes))
