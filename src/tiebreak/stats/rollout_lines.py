"""Our rollouts as JSONL: one object a line with the core columns of docs/contracts.md; zstd-compressed or not.

A line of unfinished work, which holds the rollout beside its timing, is read as well.
"""

import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import zstandard

from tiebreak.errors import DataError
from tiebreak.stats.counts import CORE

KINDS: dict[str, tuple[type, str]] = {
    "case_id": (str, "a string"),
    "family": (str, "a string"),
    "template": (str, "a string"),
    "arm": (str, "a string"),
    "training_seed": (int, "a whole number, or null for sft,"),
    "repetition": (int, "a whole number"),
    "sample": (int, "a whole number"),
    "stop": (str, "a string"),
    "valid": (bool, "true or false"),
    "success": (bool, "true or false"),
    "graded": (bool, "true or false"),
}
OPTIONAL = ("training_seed", "valid", "success", "graded")
LARGEST = 2**63  # a table's whole numbers are smaller


def read_lines(path: Path) -> pd.DataFrame:
    """The rollouts of a file: the core columns, `family` and `seeds`, the first sampling seed of each.

    Raises DataError, naming the line, for what is no JSON and for a missing or wrong value.
    """
    rows = [checked(value, place) for place, value in values(path)]
    return pd.DataFrame(rows, columns=[*CORE, "family", "seeds"])


def values(path: Path) -> Iterator[tuple[str, Any]]:
    """The JSON value of each line with its place; blank lines are passed over."""
    try:
        data = path.read_bytes()
        if path.suffix == ".zst":
            reader = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(data), read_across_frames=True)
            data = reader.read()
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}; name a stored evaluation") from error
    except zstandard.ZstdError as error:
        raise DataError(f"{path}: damaged or cut off ({error}); finish the evaluation, or name its table") from error
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            try:
                yield f"{path}:{number}", json.loads(line)
            except (ValueError, RecursionError) as error:
                raise DataError(f"{path}:{number}: no JSON ({error}); one rollout a line is expected") from error


def checked(value: Any, place: str) -> dict[str, Any]:
    """The columns of a line's rollout; raises DataError for a missing or wrong one."""
    row = value.get("rollout", value) if isinstance(value, dict) else value
    if not isinstance(row, dict):
        raise DataError(f"{place}: found {type(row).__name__}; an object with the columns of a rollout is expected")
    for name, (kind, words) in KINDS.items():
        found = row.get(name)
        if found is None and name in OPTIONAL:
            continue
        if not (is_whole(found) if kind is int else isinstance(found, kind)):
            what = f"{found!r:.80}" if name in row else "missing"
            raise DataError(f"{place}: {name} is {what}; {words} is expected")
    return {name: row.get(name) for name in KINDS} | {"seeds": first_seed(row, place)}


def is_whole(value: Any) -> bool:
    """Whether a JSON value is a whole number that a table can hold, of at least 0."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < LARGEST


def first_seed(row: Mapping[str, Any], place: str) -> int | None:
    """The sampling seed of the first turn that the model wrote; None where none is recorded.

    Raises DataError for turns that are none, and for a seed that is no whole number.
    """
    turns = row.get("turns") or []
    if not isinstance(turns, list) or not all(isinstance(turn, dict) for turn in turns):
        raise DataError(f"{place}: turns is {turns!r:.80}; a list of objects is expected")
    seed = next((turn["sampling_seed"] for turn in turns if turn.get("sampling_seed") is not None), None)
    if seed is not None and not is_whole(seed):
        raise DataError(f"{place}: sampling_seed is {seed!r:.80}; a whole number is expected")
    return seed
