"""The numbers behind each figure, as tables: a figure draws its table and nothing else, and the table is stored."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from tiebreak.errors import DataError
from tiebreak.paths import parse_run

CURVES = ("reward_mean", "graded_rate")


def levels(analysis: Mapping[str, Any]) -> pd.DataFrame:
    """pass@1 of each arm with its interval (kind `arm`), and of each of its runs (kind `run`)."""
    rows = []
    for arm, part in analysis["arms"].items():
        rows.append({"arm": arm, "kind": "arm", "run": "", **bounds(part["pass_at_1"])})
        for run, row in part["runs"].items():
            rows.append({"arm": arm, "kind": "run", "run": run, **bounds(row["pass_at_1"])})
    return pd.DataFrame(rows, columns=["arm", "kind", "run", "value", "low", "high"])


def pairs(analysis: Mapping[str, Any]) -> pd.DataFrame:
    """Every pair of arms: the difference of pass@1 with its interval, and the p-values of both tests after Holm."""
    recipe = {(row["a"], row["b"]): row for row in analysis["recipe"]["pairs"]}
    rows = []
    for row in analysis["checkpoints"]:
        runs = recipe.get((row["a"], row["b"]), {})
        rows.append(
            {
                "a": row["a"],
                "b": row["b"],
                **bounds(row["delta"]),
                "p_clusters_holm": row["over_clusters"]["p_holm"],
                "p_runs_holm": runs.get("p_holm"),
                "possible": runs.get("possible"),
            }
        )
    columns = ["a", "b", "value", "low", "high", "p_clusters_holm", "p_runs_holm", "possible"]
    return pd.DataFrame(rows, columns=columns)


def families(analysis: Mapping[str, Any]) -> pd.DataFrame:
    """pass@1 of each arm in each family (and named group of families) with its interval."""
    rows = [
        {"family": name, "arm": arm, "cases": row["cases"], **bounds(row["pass_at_1"])}
        for arm, part in analysis["arms"].items()
        for name, row in part["families"].items()
    ]
    return pd.DataFrame(rows, columns=["family", "arm", "cases", "value", "low", "high"])


def learning(analysis: Mapping[str, Any]) -> pd.DataFrame:
    """The gain on the probe of each arm with its interval (kind `arm`), and of each run."""
    learned = analysis["learning"] or {"arms": {}, "runs": {}}
    rows = [{"arm": arm, "kind": "arm", "run": "", **bounds(row["gain"])} for arm, row in learned["arms"].items()]
    rows += [
        {"arm": row["arm"], "kind": "run", "run": run, **bounds(row["gain"])} for run, row in learned["runs"].items()
    ]
    return pd.DataFrame(rows, columns=["arm", "kind", "run", "value", "low", "high"])


def training(steps: Mapping[str, Sequence[Mapping[str, Any]]]) -> pd.DataFrame:
    """One row a step of a run: every recorded number, and the tied fraction recomputed from its counts."""
    rows = []
    for run, records in steps.items():
        arm, seed = parse_run(run)
        for record in records:
            numbers = {key: value for key, value in record.items() if isinstance(value, int | float)}
            refuse_dropped_as_kept(run, numbers)
            share = numbers["tied"] / numbers["groups"] if numbers.get("groups") else None
            rows.append({"run": run, "arm": arm, "training_seed": seed, **numbers, "tied_fraction": share})
    leading = ["run", "arm", "training_seed", "step", "tied_fraction", *CURVES]
    frame = pd.DataFrame(rows)
    return frame.reindex(columns=[*leading, *[name for name in frame.columns if name not in leading]])


def refuse_dropped_as_kept(run: str, step: Mapping[str, Any]) -> None:
    """Raises DataError where a step's `kept` is not its batch without the tied groups: kept = batch − dropped."""
    if {"kept", "groups", "tied"} <= set(step) and step["kept"] != step["groups"] - step["tied"]:
        raise DataError(
            f"{run}, step {step.get('step')}: kept is {step['kept']}, but {step['groups']} groups − {step['tied']} "
            f"tied = {step['groups'] - step['tied']}; the record is damaged, train the run again"
        )


def training_summary(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Each run's training in one row: steps, groups, tied ones, seconds, first and last mean reward and graded rate."""
    rows = []
    for run, part in frame.groupby("run", sort=False):
        groups, tied = (int(part[name].sum()) if name in part else 0 for name in ("groups", "tied"))
        seconds = [float(part[name].sum()) for name in ("seconds_rollouts", "seconds_update") if name in part]
        rows.append(
            {
                "run": str(run),
                "steps": len(part),
                "groups": groups,
                "tied": tied,
                "kept": int(part["kept"].sum()) if "kept" in part else groups - tied,
                "tied_fraction": tied / groups if groups else None,
                "seconds": sum(seconds) if seconds else None,
            }
        )
    return rows


def jobs(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """One row an output of a job behind the report, with the digests in full."""
    columns = ["job", "rule", "started", "threads", "seconds", "code", "commit", "dirty", "host"]
    outputs = [
        {**{name: row[name] for name in columns}, "output": path, "sha256": digest}
        for row in rows
        for path, digest in row["outputs"].items()
    ]
    return pd.DataFrame(outputs, columns=[*columns, "output", "sha256"])


def bounds(interval: Mapping[str, Any]) -> dict[str, Any]:
    """Value, low and high of an interval."""
    return {name: interval[name] for name in ("value", "low", "high")}
