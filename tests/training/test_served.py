"""A training whose rollouts a server plays: the server has the adapter of each step, and the records are the same."""

from pathlib import Path
from typing import Any

import pytest
from engines.test_vllm import stand_in
from training.test_grpo import MOMENT, PLAN, RUN, ByLength

from tiebreak.domains.rust.rewards import RewardTable
from tiebreak.domains.rust.verdicts import Judge
from tiebreak.engines.vllm import Serving, VllmEngine
from tiebreak.errors import TrainingError
from tiebreak.rollout import Played
from tiebreak.training import grpo
from tiebreak.training.groups import check_whole

LORA = PLAN.model_copy(update={"lora_rank": 4, "learning_rate": 0.05, "steps": 3})


def test_a_training_beside_a_server_is_the_training_in_one_process(
    model_folder: Path, cases: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[tuple[str, int]] = []
    load = VllmEngine.load

    async def noted(engine: VllmEngine, adapter: Any, name: str) -> None:
        await load(engine, adapter, name)
        loaded.append((name, adapter.rank))

    monkeypatch.setattr(VllmEngine, "load", noted)
    domain = ByLength(Judge(tmp_path / "verdicts"), {"dense": RewardTable()})
    prompts = [(case, domain.prompt(case)) for case in cases[:4]]
    serving = Serving(stand_in(tmp_path), model_folder, "float32", "cpu", 4)
    for name, server in (("here", None), ("served", serving)):
        work = tmp_path / name
        options: dict[str, Any] = {"model": model_folder, "max_length": 300, "until": 3, "work": work}
        grpo.train(RUN, LORA, domain, prompts, serving=server, **options)
    assert loaded == [("adapter-1", 4), ("adapter-2", 4)], "the first step has a fresh adapter, which changes nothing"
    assert not (tmp_path / "served" / "served").exists()
    steps = [
        [{key: value for key, value in step.items() if key not in MOMENT} for step in grpo.read_steps(path)]
        for path in (tmp_path / "here" / "steps.jsonl", tmp_path / "served" / "steps.jsonl")
    ]
    assert steps[0] == steps[1]
    groups = [grpo.read_frames(tmp_path / name / "groups.jsonl.zst") for name in ("here", "served")]
    assert groups[0] == groups[1]


def test_a_step_with_an_error_is_no_step(cases: list[Any], tmp_path: Path) -> None:
    domain = ByLength(Judge(tmp_path / "verdicts"), {"dense": RewardTable()})
    played = [Played(None, domain.episode(case, domain.prompt(case), tool_rounds=2)) for case in cases[:3]]  # type: ignore[arg-type]
    check_whole(played)
    played[1].episode.halt("error")
    with pytest.raises(TrainingError, match="1 of 3 rollouts of this step ended in an error"):
        check_whole(played)
