"""Whether what a job made is of the study as it is now: by its record, and by the records of the jobs behind it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tiebreak.chain import records_behind
from tiebreak.study import Study

PLACES = {
    "source": "data/source",
    "llm": "data/source/llm",
    "splits": "data/splits",
    "leakage": "data/leakage",
    "detours": "data/detours",
    "system_message": "model/system_message",
    "rlvr_system_message": "rlvr/system_message",
    "max_tied": "rlvr/trial/max_tied",
    "samples": "rlvr/pool/samples",
    "temperature": "rlvr/temperature",
    "turn_tokens": "rlvr/turn_tokens",
    "tool_rounds": "rlvr/tool_rounds",
    "block": "evaluation/block",
    "engine": "evaluation/engine",
}
"""Where in the study a rule finds a parameter that has another name there."""
INSTALLED = ("tool", "engine")
"""Inputs of programs: another installation repeats nothing, in the rules neither."""


def is_current(record: Mapping[str, Any], study: Study, records: Path) -> bool:
    """Whether a job and all jobs behind it had the study's present values, and each the files that are there now.

    record: of the job, with `wildcards`, `params` and `inputs`; records: the folder of the study's records. A file
    whose job left no record there is believed. Raises DataError for a damaged record.
    """
    behind = records_behind([item["path"] for item in record["inputs"]], records)
    made = {item["path"]: item["sha256"] for one in behind for item in one["outputs"]}
    return all(has_values(one, study) and had_files(one, made) for one in (record, *behind))


def has_values(record: Mapping[str, Any], study: Study) -> bool:
    """Whether a job's parameters, as far as they are the study's, have the study's present values."""
    now = values(record, study)
    return all(now[name] == found for name, found in record["params"].items() if name in now)


def had_files(record: Mapping[str, Any], made: Mapping[str, str]) -> bool:
    """Whether a job read the files that the jobs before it made last. made: digests by path."""
    read = [item for item in record["inputs"] if item["name"].partition(".")[0] not in INSTALLED]
    return all(made.get(item["path"], item["sha256"]) == item["sha256"] for item in read)


def values(record: Mapping[str, Any], study: Study) -> dict[str, Any]:
    """What the rules would give a job now, by the name of the parameter; code, threads and GPUs are left out."""
    parts = study.parts()
    arms = parts["arms"]
    return (
        parts
        | {name: looked_up(parts, place) for name, place in PLACES.items()}
        | {
            "arm": arms.get(record["wildcards"].get("arm")),
            "shapes": {arm: arms.get(arm) for arm in record["params"].get("shapes", ())},
            "drifting": study.drifting,
            "declared": len(study.drifting) == len(study.arms),
            "most_calls": min(study.rlvr.tool_rounds, study.evaluation.tool_rounds),
        }
    )


def looked_up(parts: Any, place: str) -> Any:
    """The value at a place such as data/splits; None where the study has none."""
    for key in place.split("/"):
        parts = parts.get(key) if isinstance(parts, Mapping) else None
    return parts
