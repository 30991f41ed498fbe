"""The file of a training: the published values, what differs between arms, and what prime-rl must never be given."""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tiebreak.cli import main
from tiebreak.errors import ConfigError
from tiebreak.study import Study, load
from tiebreak.training.prime_rl import keys
from tiebreak.training.prime_rl.config import build, of_study, text

ROOT = Path(__file__).parents[3]
ARMS = ("sparse", "dense", "compiler")
# What the published dense run resolved to, from its own record of it.
PUBLISHED = {
    "max_steps": 30,
    "ckpt.interval": 5,
    "deployment.num_infer_gpus": 1,
    "deployment.num_train_gpus": 2,
    "deployment.num_teacher_gpus": 1,
    "deployment.gpus_per_node": 4,
    "weight_broadcast.type": "filesystem",
    "trainer.model.seq_len": 16384,
    "trainer.model.attn": "sdpa",
    "trainer.model.ac.mode": "full",
    "trainer.model.fused_lm_head_token_chunk_size": 8192,
    "trainer.model.optimization_dtype": "bfloat16",
    "trainer.model.lora.rank": 64,
    "trainer.model.lora.alpha": 128.0,
    "trainer.model.lora.dropout": 0.0,
    "trainer.model.lora.target_modules": "q_proj k_proj v_proj o_proj gate_proj up_proj down_proj".split(),
    "trainer.optim.type": "adamw",
    "trainer.optim.lr": 1e-6,
    "trainer.optim.weight_decay": 0.01,
    "trainer.optim.max_norm": 1.0,
    "trainer.scheduler.type": "constant",
    "trainer.loss.teacher_tau": 0.2,
    "trainer.loss.adv_tau": 1.0,
    "trainer.loss.kl_tau": 1e-3,
    "trainer.loss.dppo_mask_low": 0.2,
    "trainer.loss.dppo_mask_high": 0.2,
    "orchestrator.training_mode": "opd",
    "orchestrator.batch_size": 96,
    "orchestrator.max_inflight_rollouts": 96,
    "orchestrator.rollouts_per_example": 8,
    "orchestrator.seq_len": 16384,
    "orchestrator.student.model.lora.rank": 64,
    "orchestrator.student.model.lora.alpha": 128.0,
    "orchestrator.student.client.base_url": ["http://localhost:8000/v1"],
    "orchestrator.teacher.client.base_url": ["http://localhost:8001/v1"],
    "orchestrator.train.sampling.temperature": 0.8,
    "orchestrator.train.sampling.max_completion_tokens": 4000,
    "orchestrator.train.sampling.extra_body.stop_token_ids": [151644, 151645],
    "orchestrator.train.sampling.extra_body.stop": ["<|im_end|>", "<|im_start|>"],
    "orchestrator.train.env.0.args.timeout": 30,
    "orchestrator.train.env.0.args.max_tool_rounds": 15,
    "inference.server.port": 8000,
    "inference.model.dtype": "float16",
    "teacher_inference.server.port": 8001,
}
FILTERS = [
    {"type": "gibberish", "enforce": True, "token_id_threshold": 100_000, "logprob_offset": 2.0},
    {"type": "repetition", "enforce": True, "window": 3000, "prob_threshold": 0.99},
    {"type": "zero_advantage", "enforce": True},
]


@pytest.fixture(scope="module")
def glyph() -> Study:
    return load("glyph", ROOT)


ENVIRONMENT_SEED = "orchestrator.train.env.0.args.seed"


def written(study: Study, arm: str, seed: int = 0, **options: Any) -> dict[str, Any]:
    """The file of a training, read back."""
    return tomllib.loads(text(build(of_study(study, arm, seed), until=study.rlvr.steps, **options)))


def flat(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Every value with its dotted place; lists of plain values are values."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from flat(inner, f"{place}.{name}" if place else name)
    elif isinstance(value, list) and value and isinstance(value[0], Mapping):
        for number, inner in enumerate(value):
            yield from flat(inner, f"{place}.{number}")
    else:
        yield place, value


@pytest.mark.parametrize("name", ["glyph", "glyph-published"])
def test_the_resolved_values_are_the_published_ones(name: str) -> None:
    values = written(load(name, ROOT), "dense")
    found = dict(flat(values))
    assert {place: found.get(place) for place in PUBLISHED} == PUBLISHED
    assert values["orchestrator"]["filters"] == FILTERS
    bias = values["orchestrator"]["train"]["sampling"]["extra_body"]["logit_bias"]
    assert bias == {str(token): -100.0 for token in range(151669, 151936)}


def test_the_file_is_what_the_typed_model_says(glyph: Study) -> None:
    for resume in (None, 5):
        config = build(of_study(glyph, "dense", 0), until=30, resume=resume)
        assert keys.Rl.model_validate(tomllib.loads(text(config))) == config


@pytest.mark.parametrize("resume", [None, 10])
def test_arms_differ_in_reward_names_and_seeds_only(glyph: Study, resume: int | None) -> None:
    files = {arm: dict(flat(written(glyph, arm, resume=resume))) for arm in ARMS}
    first = files["sparse"]
    assert all(file.keys() == first.keys() for file in files.values())
    differing = {place for place in first if len({str(file[place]) for file in files.values()}) > 1}
    rewards = {f"orchestrator.train.env.0.args.reward.{term}" for term in ("compiled", "tests_passed", "phase")}
    seeds = {place for place in first if place.rpartition(".")[2] == "seed"}
    names = {place for place in first if f"{ARMS[0]}-" in str(first[place]) or first[place] == ARMS[0]}
    assert differing == rewards | seeds | names
    assert len(seeds) == 5
    for place in names:
        assert {str(file[place]).replace(arm, "") for arm, file in files.items()} == {
            first[place].replace("sparse", "")
        }


def test_a_training_seed_changes_names_and_seeds_only(glyph: Study) -> None:
    first, second = (dict(flat(written(glyph, "dense", seed))) for seed in (0, 1))
    differing = {place for place in first if first[place] != second[place]}
    assert {
        place for place in differing if "dense-seed" not in str(first[place]) and "dense-0" not in str(first[place])
    } == {place for place in first if place.endswith(".seed")}


def test_no_seed_is_shared_by_the_rollouts_of_a_group(glyph: Study) -> None:
    """A seed in the sampling goes out with every request, and eight equal rollouts are a tied group."""
    sampling = written(glyph, "dense")["orchestrator"]["train"]["sampling"]
    assert "seed" not in dict(flat(sampling))


def test_the_teacher_has_its_own_server_and_room_for_a_whole_rollout(glyph: Study) -> None:
    """Without a model and a port of its own prime-rl copies the student's server (auto_setup_teacher_inference)."""
    values = written(glyph, "dense")
    student, teacher = values["inference"], values["teacher_inference"]
    assert teacher["model"]["name"] == values["orchestrator"]["teacher"]["model"]["name"] == student["model"]["name"]
    assert teacher["server"]["port"] != student["server"]["port"]
    assert (student["enable_lora"], teacher["enable_lora"]) == (True, False)
    assert teacher["model"]["max_model_len"] > student["model"]["max_model_len"] == values["orchestrator"]["seq_len"]


def test_a_resumed_training_names_its_step_and_asks_for_other_rollouts(glyph: Study) -> None:
    fresh, resumed = (dict(flat(written(glyph, "dense", resume=resume))) for resume in (None, 10))
    assert "ckpt.resume_step" not in fresh and resumed.pop("ckpt.resume_step") == 10
    assert {place for place in fresh if fresh[place] != resumed[place]} == {ENVIRONMENT_SEED}
    seeds = [dict(flat(written(glyph, "dense", resume=step)))[ENVIRONMENT_SEED] for step in (None, 5, 10, 15)]
    assert len(set(seeds)) == len(seeds)


def test_the_command_prints_the_file(
    glyph: Study, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    assert main(["prime-rl", "config", "--study", "glyph", "--arm", "dense", "--seed", "3"]) == 0
    assert capsys.readouterr().out == text(build(of_study(glyph, "dense", 3), until=30))
    assert main(["prime-rl", "config", "--study", "glyph", "--arm", "dense", "--until", "5"]) == 0
    assert "max_steps = 5\n" in capsys.readouterr().out
    assert main(["prime-rl", "config", "--study", "laptop", "--arm", "dense"]) == 2
    assert "study laptop: rlvr.prime_rl is not there" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arm", "seed", "words"), [("densest", 0, "no arm densest"), ("dense", 5, "no training seed 5")]
)
def test_what_the_study_does_not_have_is_named(glyph: Study, arm: str, seed: int, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        of_study(glyph, arm, seed)
