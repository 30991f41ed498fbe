"""Stored evaluations for tests, small and in every layout."""

import json

import pyarrow as pa
import zstandard

from tiebreak import tables

SCHEMA = tables.rollouts(pa.struct({"compiled": pa.bool_()}))


def rollout(case, sample, *, arm="sparse", training_seed=0, repetition=0, seed=None, **changes):
    """One rollout of our layout; its seed follows case, repetition and sample, as in a real evaluation."""
    drawn = 10_000 * repetition + 100 * case + sample if seed is None else seed
    return {
        "case_id": f"case_{case:03d}",
        "family": "patch_test_pass",
        "difficulty": "easy",
        "template": f"template_{case % 3}",
        "arm": arm,
        "training_seed": training_seed,
        "repetition": repetition,
        "sample": sample,
        "root_seed": 1,
        "turns": [
            {"role": "user", "content": "u", "tokens": 1, "sampling_seed": None},
            {"role": "assistant", "content": "FINAL: x", "tokens": 3, "sampling_seed": drawn},
        ],
        "stop": "final",
        "valid": True,
        "success": True,
        "graded": True,
        "facts": {"compiled": True},
        "rewards": [("sparse", 10.0)],
        "new_tokens": 9,
        "truncated": False,
    } | changes


def rollouts(graded, *, k=4, **changes):
    """The rollouts of an evaluation: case i is solved `graded[i]` times of k, and valid once more where it can be."""
    return [
        rollout(case, sample, graded=sample < solved, valid=sample < min(k, solved + 1), **changes)
        for case, solved in enumerate(graded)
        for sample in range(k)
    ]


def parquet(path, rows):
    """Write rollouts as the table that an evaluation leaves."""
    tables.write_table(path, rows, SCHEMA)
    return str(path)


def jsonl(path, rows):
    """Write rollouts as lines; compressed where the name says so, then as unfinished work holds them."""
    wrapped = path.suffix == ".zst"
    text = "".join(json.dumps({"rollout": row, "timing": {}} if wrapped else row) + "\n" for row in rows)
    data = text.encode()
    if wrapped:
        middle = data.index(b"\n") + 1
        compressor = zstandard.ZstdCompressor()
        data = compressor.compress(data[:middle]) + compressor.compress(data[middle:])
    path.write_bytes(data)
    return str(path)


def published(path, valid, *, k=8, traces=None, names=None, field="valid_trace_solves", **extra):
    """Write rows of the published layout; `traces` marks the kept rollouts, None keeps none."""
    rows = []
    for at, solves in enumerate(valid):
        row = {"name": names[at] if names else f"case_{at:03d}", "k": k, "pass_at_k": solves / k, field: solves} | extra
        if traces is not None:
            row["rollouts"] = [{"valid_trace": n < solves, "trace": f"{traces} {at} {n}"} for n in range(k)]
        rows.append(row)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(rows))
    return str(path)
