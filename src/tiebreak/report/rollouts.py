"""Stored rollouts as the viewer needs them, read column by column: a table of thousands in a fraction of a second."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tiebreak.chat import Message
from tiebreak.errors import DataError

CORE = ["case_id", "family", "difficulty", "template", "arm", "training_seed", "repetition", "sample"]
OUTCOME = ["stop", "valid", "success", "graded", "facts", "rewards", "new_tokens", "truncated"]
PARTS = ("role", "content", "tokens")
TURNS = [f"turns.list.element.{part}" for part in PARTS]
CALLS = "facts.calls."  # a list of calls; a number of them, as other domains have it, is shown


@dataclass(frozen=True)
class Stored:
    """One rollout: its columns but `turns`, the turns, and how many tokens each has (None where it was not sampled)."""

    row: dict[str, Any]
    turns: list[Message]
    tokens: list[int | None]


def read(path: Path) -> Iterator[Stored]:
    """The rollouts of a table in its order, without the calls of `facts` (the turns hold them).

    Raises DataError, naming the file, for what is no table of rollouts.
    """
    try:
        file = pq.ParquetFile(path)
        missing = sorted({*CORE, *OUTCOME, "turns"} - set(file.schema_arrow.names))
        if missing:
            raise DataError(f"{path}: has no column {missing[0]}; a table of rollouts is expected")
        facts = [column.path for column in map(file.schema.column, range(len(file.schema.names)))]
        wanted = [name for name in facts if name.startswith("facts.") and not name.startswith(CALLS)]
        rows = file.read(columns=[*CORE, *OUTCOME[:4], *OUTCOME[5:], *wanted]).to_pylist()
        turns = file.read(columns=TURNS)["turns"].combine_chunks()
    except (OSError, pa.ArrowException) as error:
        raise DataError(f"{path}: cannot be read as Parquet ({error}); remake it with its rule") from None
    yield from joined(rows, turns)


def joined(rows: list[dict[str, Any]], turns: pa.ListArray) -> Iterator[Stored]:
    """Rows with their turns, which lie flat in one array."""
    roles, contents, tokens = (turns.flatten().field(part).to_pylist() for part in PARTS)
    at = 0
    for row, length in zip(rows, turns.value_lengths().to_pylist(), strict=True):
        here = slice(at, at + length)
        messages = [Message(role=role, content=text) for role, text in zip(roles[here], contents[here], strict=True)]
        yield Stored(row, messages, tokens[here])
        at += length
