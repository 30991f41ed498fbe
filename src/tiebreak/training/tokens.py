"""SFT's traces as tokens: every one whole or an error, what they come to in numbers, and some of them to look at."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypedDict

from tiebreak import tables
from tiebreak.errors import TrainingError
from tiebreak.training.encode import Encoded, encode, segments

SAMPLE = 6


class Piece(TypedDict):
    """A piece of a trace. own: the model's turn; loss: it learns to write it (an own piece without is masked)."""

    text: str
    own: bool
    loss: bool
    tokens: int


def read_traces(path: Path) -> list[dict[str, Any]]:
    """The rows of a table of traces, in its order: case_id, family, difficulty, turns."""
    found: list[dict[str, Any]] = tables.read_table(path, ["case_id", "family", "difficulty", "turns"]).to_pylist()
    return found


def encoded(traces: Path, tokenizer: Any, context_weight: float, max_length: int) -> list[Encoded]:
    """Every trace of a table, encoded. Raises TrainingError for one that is too long, or teaches nothing."""
    rows = []
    for row in read_traces(traces):
        item = encode(tokenizer, row["turns"], context_weight)
        if len(item.ids) > max_length:
            raise TrainingError(
                f"{traces}: the trace of case {row['case_id']} has {len(item.ids)} tokens, model.max_length (or "
                f"sft.large.max_length) is {max_length}; raise it or make shorter cases (traces are never cut)"
            )
        if not item.learned:
            raise TrainingError(f"{traces}: the trace of case {row['case_id']} has no turn to learn from")
        rows.append(item)
    return rows


def statistics(rows: Sequence[Encoded], max_length: int) -> dict[str, Any]:
    """Token counts of encoded traces. Percentiles are the smallest length that so many per cent do not exceed.

    share_learned: of all tokens. truncated is 0 because an over-long trace is an error and none is cut.
    """
    lengths = sorted(len(row.ids) for row in rows)
    learned = sum(row.learned for row in rows)
    return {
        "traces": len(rows),
        "tokens": sum(lengths),
        "tokens_learned": learned,
        "share_learned": round(learned / sum(lengths), 6),
        "tokens_min": lengths[0],
        "tokens_median": percentile(lengths, 50),
        "tokens_p90": percentile(lengths, 90),
        "tokens_max": lengths[-1],
        "max_length": max_length,
        "truncated": 0,
    }


def percentile(ordered: Sequence[int], share: int) -> int:
    """The smallest of the sorted values that `share` per cent of them do not exceed (nearest rank)."""
    return ordered[max(0, -(-share * len(ordered) // 100) - 1)]


def sample(rows: Sequence[dict[str, Any]], lengths: Sequence[int], tokenizer: Any) -> list[dict[str, Any]]:
    """Traces from the shortest to the longest, at even distances in rank, each as pieces with their place in the loss.

    lengths: tokens of each row. The texts of a trace's pieces, joined, are the very bytes that the model is trained on.
    """
    order = sorted(range(len(rows)), key=lambda place: (lengths[place], rows[place]["case_id"]))
    last, count = len(order) - 1, min(SAMPLE, len(order))
    picked = [order[last * number // max(1, count - 1)] for number in range(count)]
    return [
        {
            **{key: rows[place][key] for key in ("case_id", "family", "difficulty")},
            "tokens": lengths[place],
            "pieces": pieces(rows[place]["turns"], tokenizer),
        }
        for place in picked
    ]


def pieces(turns: Any, tokenizer: Any) -> list[Piece]:
    """The pieces of a trace, cut where training cuts."""
    return [
        Piece(
            text=segment.text,
            own=segment.own,
            loss=segment.learn,
            tokens=len(tokenizer(segment.text, add_special_tokens=False)["input_ids"]),
        )
        for segment in segments(turns)
    ]
