"""The rollouts that prime-rl stored of a step, as groups of ours.

Source at the pinned commit: orchestrator/vf_utils.py, save_rollouts (one JSON object a line, without token ids), in the
order of the batch, a group's rollouts on end (orchestrator/scheduler.py). What the environment adds: `info` holds
case_id, family and template; `metrics` holds valid, success, graded (1 or 0) and the reward's terms as `term_NAME`.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

from tiebreak.errors import TrainingError
from tiebreak.training.groups import TIE
from tiebreak.training.prime_rl.resume import RUN

TERM = "term_"
INFO = ("case_id", "family", "template")
VERDICTS = ("valid", "success", "graded")


def stored_groups(out: Path, step: int, size: int) -> list[dict[str, Any]]:
    """The groups of step `step` (counted from 1). Raises TrainingError for a file that is not there or not whole."""
    path = out / RUN / "rollouts" / f"step_{step - 1}" / "train_rollouts.jsonl"
    try:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    except (OSError, ValueError) as problem:
        raise TrainingError(f"{path}: the rollouts of step {step} cannot be read: {problem}") from None
    if not rows or len(rows) % size:
        raise TrainingError(f"{path}: holds {len(rows)} rollouts; whole groups of {size} are expected")
    return [group(path, step, start // size, rows[start : start + size]) for start in range(0, len(rows), size)]


def group(path: Path, step: int, number: int, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A record of one group, as `training.groups` makes it."""
    about = [info(path, row) for row in rows]
    if any(one["case_id"] != about[0]["case_id"] for one in about):
        raise TrainingError(f"{path}: group {number} holds rollouts of more than one case; the batch's order is broken")
    rewards = [float(row["reward"]) for row in rows]
    return {
        "step": step,
        "group": number,
        **about[0],
        "rewards": rewards,
        "terms": [terms(row) for row in rows],
        "tied": max(rewards) - min(rewards) < TIE,
        "stop": [row.get("stop_condition") for row in rows],
        **{name: [bool(row["metrics"][name]) for row in rows] for name in VERDICTS},
        "new_tokens": [int((row.get("token_usage") or {}).get("output_tokens", 0)) for row in rows],
        "turns": [[*(row.get("prompt") or []), *(row.get("completion") or [])] for row in rows],
    }


def info(path: Path, row: dict[str, Any]) -> dict[str, str]:
    """Which case a rollout is of. Raises TrainingError where the environment did not say."""
    found = row.get("info")
    found = json.loads(found) if isinstance(found, str) else found
    lacking = [name for name in INFO if name not in (found or {})]
    lacking += [name for name in VERDICTS if name not in row.get("metrics", {})]
    if lacking or not isinstance(found, dict):
        raise TrainingError(
            f"{path}: a rollout does not say its {', '.join(lacking)}; the environment has to record it"
        )
    return {name: str(found[name]) for name in INFO}


def terms(row: dict[str, Any]) -> dict[str, float]:
    """The reward of a rollout, term by term."""
    return {name.removeprefix(TERM): float(value) for name, value in row["metrics"].items() if name.startswith(TERM)}


def summary(groups: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """One step's groups in numbers, called as TRL's backend calls them."""
    rewards = [reward for one in groups for reward in one["rewards"]]
    tokens = [count for one in groups for count in one["new_tokens"]]
    tied = sum(one["tied"] for one in groups)
    return {
        "groups": len(groups),
        "tied": tied,
        "kept": len(groups) - tied,
        "tied_fraction": tied / len(groups),
        "reward_std": pstdev(rewards),
        **{f"{name}_rate": fmean(value for one in groups for value in one[name]) for name in VERDICTS},
        "new_tokens_mean": fmean(tokens),
        "new_tokens_max": max(tokens),
    }
