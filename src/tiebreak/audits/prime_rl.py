"""What a prime-rl run says of its training groups: per-step facts from its orchestrator's log, and its saved rollouts.

Layouts of prime-rl at commit 97872d3e0: `<out>/run_default/rollouts/step_<N>/train_rollouts.jsonl` has a line a rollout
with `env_name`, `example_id`, `reward`, `advantage`, `filters` (one flag a filter, the first that fits alone) and
`is_filtered`. It filters a rollout whose advantage is exactly 0, which is every one of a tied group and also one whose
reward is its group's mean. Neither success nor terms are in there, so nothing is said of them.
"""

import json
import re
from pathlib import Path

import pandas as pd

from tiebreak.audits.ties import TOLERANCE
from tiebreak.errors import DataError
from tiebreak.stats.wilson import fraction

STEP = re.compile(r"step_(\d+)")
COUNTS = ["step", "batch", "dropped_total", "training_examples"]
REASONS = ["dropped_zero_advantage", "dropped_gibberish", "dropped_repetition"]
FIELDS = ("env_name", "example_id", "reward", "is_filtered")


def read_orchestrator(path: Path) -> pd.DataFrame:
    """A CSV of per-step facts, with `kept` (batch − dropped_total) and `kept_fraction`, in the order of its steps.

    `training_examples` stays under its own name: a rollout may become no, one or several training examples. Raises
    DataError for a file without these columns, a count that is none, or steps and drops that cannot be.
    """
    try:
        frame = pd.read_csv(path)
    except (OSError, ValueError) as error:
        raise DataError(
            f"{path}: cannot be read as CSV ({error}); the columns {', '.join(COUNTS)} are expected"
        ) from None
    for name in [*COUNTS, *(reason for reason in REASONS if reason in frame)]:
        if name not in frame:
            raise DataError(f"{path}: no column {name!r}; it has {', '.join(map(str, frame.columns))}")
        values = pd.to_numeric(frame[name], errors="coerce")
        wrong = ~((values >= 0) & (values % 1 == 0))
        if wrong.any():
            line = int(wrong.to_numpy().argmax())
            raise DataError(f"{path}: line {line + 2}: {name} is {frame[name].iloc[line]}; a count is expected")
        frame[name] = values.astype("int64")
    refuse_impossible(frame, path)
    kept = frame["batch"] - frame["dropped_total"]
    return frame.assign(kept=kept, kept_fraction=kept / frame["batch"]).sort_values("step", ignore_index=True)


def refuse_impossible(frame: pd.DataFrame, path: Path) -> None:
    """Raises DataError for a step twice, an empty batch, more drops than rollouts, or reasons that do not add up."""
    reasons = [name for name in REASONS if name in frame]
    checks = {
        "the step stands twice": frame["step"].duplicated(),
        "the batch is empty": frame["batch"] == 0,
        "more rollouts are dropped than the batch has": frame["dropped_total"] > frame["batch"],
        "the drops by reason are more than all": frame[reasons].sum(axis=1) > frame["dropped_total"],
    }
    for reason, wrong in checks.items():
        if wrong.any():
            line = int(wrong.to_numpy().argmax())
            raise DataError(f"{path}: line {line + 2}: {reason}; take the facts of one run's log as they are")


def differing(frame: pd.DataFrame) -> int:
    """In how many steps `training_examples` is another number than `kept`."""
    return int((frame["training_examples"] != frame["kept"]).sum())


def rollout_files(folder: Path) -> dict[int, Path]:
    """The saved training rollouts under a run's output folder, or under its `rollouts` folder itself, by step."""
    for place in (folder / "run_default" / "rollouts", folder / "rollouts", folder):
        found = {
            int(match[1]): path
            for path in place.glob("step_*/train_rollouts.jsonl")
            if (match := STEP.fullmatch(path.parent.name))
        }
        if found:
            return dict(sorted(found.items()))
    raise DataError(f"{folder}: no run_default/rollouts/step_N/train_rollouts.jsonl; name a run's output folder")


def read_step(path: Path) -> pd.DataFrame:
    """The saved rollouts of one step: FIELDS. Raises DataError, naming the line, for anything else."""
    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if not line:
            continue
        try:
            row = json.loads(line)
            rows.append([row[name] for name in FIELDS])
            float(row["reward"])
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(
                f"{path}: line {number}: no saved rollout ({error!r}); {', '.join(FIELDS)} are expected"
            ) from None
    return pd.DataFrame(rows, columns=list(FIELDS))


def by_step(folder: Path) -> pd.DataFrame:
    """One row a step of saved rollouts: rollouts, filtered, kept; groups, tied, the tied fraction with its interval.

    A group is what one example of one environment got in the step, as prime-rl's own metrics group them.
    """
    rows = []
    for step, path in rollout_files(folder).items():
        frame = read_step(path)
        rewards = frame.groupby(["env_name", "example_id"])["reward"]
        tied = fraction(int((rewards.max() - rewards.min() < TOLERANCE).sum()), rewards.ngroups)
        filtered = int(frame["is_filtered"].sum())
        counts = {"rollouts": len(frame), "filtered": filtered, "kept": len(frame) - filtered}
        bounds = {"tied_fraction": tied.value, "low": tied.low, "high": tied.high}
        rows.append({"step": step, **counts, "groups": tied.total, "tied": tied.count, **bounds})
    return pd.DataFrame(rows)
