"""Published traces, played again: their calls through our toolbox, status and test counts beside the published ones.

A trace carries no crate. Where its first call reads the source, and the read was not cut, the crate is what was read.
Bytes are not compared: the published results were made with another Rust, and without normalisation.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, Literal, TypedDict

from tiebreak.chat import parse
from tiebreak.domains.rust.blueprints import MANIFEST, PROJECT_ROOT, Blueprint, parse_blueprint
from tiebreak.domains.rust.crate import SOURCES
from tiebreak.domains.rust.episode import Judge, RustEpisode, answer, prompt
from tiebreak.domains.rust.imports.rows import identifier, load_json
from tiebreak.domains.rust.protocol import CUT_MARK, Call, parse_turn, result_head
from tiebreak.domains.rust.toolbox import project_root
from tiebreak.domains.rust.transcript import is_valid
from tiebreak.errors import BlueprintError, DataError

MANIFEST_TEXT = '[package]\nname = "replayed"\nversion = "0.1.0"\nedition = "2021"\n'
ROUNDS = 99
_COUNTS = re.compile(r"(\d+) passed; (\d+) failed")
_HEAD = re.compile(r"RESULT [^\n]*:\nstatus: (\w+)")
NEVER_READ, CUT = "no read of the source comes first", "the read of the source was cut"


class Replayed(TypedDict):
    """One trace's outcome. `skipped` ones cannot be replayed from themselves, `unusable` ones are no traces."""

    case_id: str
    outcome: Literal["same", "differs", "skipped", "unusable"]
    calls: int
    errors: list[str]


@dataclass
class Trace:
    """A trace that can be replayed: its case, the assistant's turns with our paths, and the published replies."""

    case: Blueprint
    turns: list[str]
    replies: list[str]


@dataclass(frozen=True)
class Skipped:
    """A trace that cannot be, and why; unusable: it is no trace at all."""

    case_id: str
    reason: str
    unusable: bool = False


def read_traces(path: Path) -> list[Trace | Skipped]:
    """The traces of a JSONL file, in order; see `read_trace`. Raises DataError where it cannot be read or is empty."""
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as problem:
        raise DataError(f"{path}: cannot be read: {problem.strerror}; name a JSONL file of traces") from problem
    found = [read_trace(line, f"line {number}") for number, line in enumerate(lines, 1) if line.strip()]
    if not found:
        raise DataError(f"{path}: holds no line; one trace a line is expected, as JSON")
    return found


def read_trace(line: bytes, name: str) -> Trace | Skipped:
    """A trace from its line: an object with `trace` (ChatML), `family`, `case_id` and `expected_output`."""
    try:
        row = load_json(line.decode("utf-8"))
        name = row["case_id"]
        return _trace(row)
    except UnicodeDecodeError as problem:
        return Skipped(name, f"byte {problem.start} is no UTF-8; save the file as UTF-8", unusable=True)
    except (KeyError, TypeError, AttributeError) as problem:
        return Skipped(str(name), f"no trace: {problem!r}; trace, family and case_id are expected", unusable=True)
    except (ValueError, RecursionError, BlueprintError) as problem:
        return Skipped(str(name), f"no trace: {problem}", unusable=True)


def _trace(row: dict[str, Any]) -> Trace | Skipped:
    messages = parse(row["trace"])
    turns = [message["content"] for message in messages if message["role"] == "assistant"]
    replies = [message["content"] for message in messages if message["role"] == "tool"]
    first = next(iter(parse_turn(turns[0]).calls), None) if turns and replies else None
    source = None if first is None else _source_read(first)
    if first is None or source is None or not replies[0].startswith(result_head(first.id) + "success"):
        return Skipped(row["case_id"], NEVER_READ)
    text = replies[0].partition("stdout:\n")[2] + "\n"
    if CUT_MARK in text:
        return Skipped(row["case_id"], CUT)
    case = _case(row, source, text)
    theirs = first.params["file_path"].removesuffix(f"/{source}")
    return Trace(case, [turn.replace(theirs, project_root(case.case_id)) for turn in turns], replies)


def _source_read(call: Call) -> str | None:
    """Which source of a crate the call reads."""
    path = call.params.get("file_path", "")
    return next((name for name in SOURCES if path.endswith(f"/{name}")), None) if call.tool == "read_file" else None


def _case(row: dict[str, Any], source: str, text: str) -> Blueprint:
    """What stands in for the trace's blueprint: the crate as it was read, to be tested or run."""
    runs = "run" in row["family"]
    tool = "cargo_run" if runs else "cargo_test"
    spec = {
        "family": "run_only" if runs else "test_only",
        "case_id": identifier(row["case_id"]),
        "bug_category": "",
        "difficulty": "medium",
        "user": PROJECT_ROOT,
        "expected_tool_sequence": [tool],
        "expected_output": row.get("expected_output") if runs else None,
        "files": {MANIFEST: MANIFEST_TEXT, source: text},
        "steps": [{"tool": tool, "expect_status": "success"}],
        "final": "",
    }
    return parse_blueprint(json.dumps(spec))


def replay(
    traces: Sequence[Trace | Skipped], judge: Judge, progress: Callable[[int], object] | None = None
) -> list[Replayed]:
    """Play all traces, a turn of each at a time; `progress` is called with the number of turns just played."""
    usable = [item for item in traces if isinstance(item, Trace)]
    live = [(item, RustEpisode(item.case, prompt(item.case), tool_rounds=ROUNDS)) for item in usable]
    for place in range(max((len(item.turns) for item, _ in live), default=0)):
        playing = [(item, episode) for item, episode in live if place < len(item.turns) and episode.stop is None]
        for item, episode in playing:
            episode.act(item.turns[place])
        answer(judge, [episode for _, episode in playing])
        if progress is not None:
            progress(len(playing))
    played = iter([_compared(item, episode) for item, episode in live])
    return [next(played) if isinstance(item, Trace) else _skipped(item) for item in traces]


def _skipped(item: Skipped) -> Replayed:
    outcome: Literal["unusable", "skipped"] = "unusable" if item.unusable else "skipped"
    return Replayed(case_id=item.case_id, outcome=outcome, calls=0, errors=[item.reason])


def _compared(item: Trace, episode: RustEpisode) -> Replayed:
    ours = [message["content"] for message in episode.turns if message["role"] == "tool"]
    errors = []
    for number, (found, published) in enumerate(zip_longest(ours, item.replies, fillvalue=""), 1):
        if (seen := essence(found)) != (expected := essence(published)):
            errors.append(f"call {number}: {seen or 'no reply'}, published {expected or 'no reply'}")
    if not errors and not is_valid(episode.turns):
        errors.append("the transcript is not valid")
    return Replayed(case_id=item.case.case_id, outcome="differs" if errors else "same", calls=len(ours), errors=errors)


def essence(reply: str) -> str:
    """What must agree in a reply whatever Rust made it: its status, and how many tests passed and failed."""
    head, counts = _HEAD.match(reply), _COUNTS.search(reply)
    return " ".join(part[0] if part is counts else f"status {part[1]}" for part in (head, counts) if part)
