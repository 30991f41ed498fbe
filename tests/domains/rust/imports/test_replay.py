"""Traces replayed: what counts as the same, what cannot be replayed, and the published ones."""

import json
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from domains.rust.imports.specs import GLYPH, LIBRARY

from tiebreak.chat import SYSTEM_MESSAGE, Message, render
from tiebreak.domains.rust.imports.replay import CUT, NEVER_READ, Skipped, Trace, essence, read_traces, replay
from tiebreak.domains.rust.protocol import CUT_MARK, format_call, format_result
from tiebreak.domains.rust.verdicts import Judge
from tiebreak.errors import DataError

VERDICTS = TemporaryDirectory(prefix="verdicts")
ROOT = "runs/rust_cases/one"
PASSED = "running 1 test\ntest tests::small ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured;"


@cache
def judge() -> Judge:
    return Judge(Path(VERDICTS.name), diagnostics="short")


def trace(
    source: str = LIBRARY, fixed: str = "n + 1", ok: bool = True, stdout: str = PASSED, first: str = "read_file"
) -> list[Message]:
    """A trace that reads, patches, tests and ends."""
    paths = {"file_path": f"{ROOT}/src/lib.rs"}
    calls = [
        format_call(first, "c1", paths if first == "read_file" else {"project_path": ROOT}),
        format_call("apply_patch", "c2", {**paths, "find": "n + 2", "replace": fixed}),
        format_call("cargo_test", "c3", {"project_path": ROOT}),
    ]
    replies = [
        format_result("c1", ok=True, stdout=source),
        format_result("c2", ok=True, stdout="patch applied"),
        format_result("c3", ok=ok, stdout=stdout),
    ]
    turns: list[Message] = [{"role": "system", "content": SYSTEM_MESSAGE}, {"role": "user", "content": f"Fix {ROOT}."}]
    for call, answer in zip(calls, replies, strict=True):
        turns += [{"role": "assistant", "content": call}, {"role": "tool", "content": answer}]
    return [*turns, {"role": "assistant", "content": "FINAL: done."}]


def line(messages: Sequence[Message], **changes: object) -> str:
    """The line of a trace."""
    row = {"trace": render(messages), "family": "patch_test_pass", "case_id": "one", "expected_output": None}
    return json.dumps(row | changes) + "\n"


def read(tmp_path: Path, text: str | bytes) -> list[Trace | Skipped]:
    path = tmp_path / "traces.jsonl"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_traces(path)


def test_a_trace_that_goes_as_published_is_the_same(tmp_path: Path) -> None:
    traces = read(tmp_path, line(trace()) * 2)
    turns: list[int] = []
    assert (
        replay(traces, judge(), turns.append) == [{"case_id": "one", "outcome": "same", "calls": 3, "errors": []}] * 2
    )
    assert sum(turns) == 8


def test_another_status_and_another_count_are_differences(tmp_path: Path) -> None:
    wrong_fix, other_count = trace(fixed="n + 5"), trace(stdout=PASSED.replace("1 passed", "2 passed"))
    first, second = replay(read(tmp_path, line(wrong_fix) + line(other_count)), judge())
    assert (first["outcome"], first["calls"]) == ("differs", 3)
    assert first["errors"] == ["call 3: status failed 0 passed; 1 failed, published status success 1 passed; 0 failed"]
    assert second["errors"] == [
        "call 3: status success 1 passed; 0 failed, published status success 2 passed; 0 failed"
    ]


def test_a_reply_that_one_side_lacks_is_a_difference(tmp_path: Path) -> None:
    (found,) = replay(read(tmp_path, line([turn for turn in trace() if "RESULT c3" not in turn["content"]])), judge())
    assert found["errors"] == ["call 3: status success 1 passed; 0 failed, published no reply"]


def test_a_trace_that_does_not_show_its_source_is_skipped(tmp_path: Path) -> None:
    unread, cut = trace(first="cargo_test"), trace(source=LIBRARY + CUT_MARK + LIBRARY)
    found = replay(read(tmp_path, line(unread, case_id="a") + line(cut, case_id="b")), judge())
    assert [(item["case_id"], item["outcome"], item["errors"]) for item in found] == [
        ("a", "skipped", [NEVER_READ]),
        ("b", "skipped", [CUT]),
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "no trace: Expecting"),
        ("[]", "no trace: TypeError"),
        ("{}", "no trace: KeyError('case_id')"),
        (line(trace(), trace="hello"), "no trace: offset 0"),
        (line(trace(), trace=3), "no trace: "),
        (line(trace(), case_id=3), "no trace: "),
        (line(trace(), family=None), "no trace: "),
        (b'{"case_id": "\xff"}', "byte 13 is no UTF-8"),
    ],
)
def test_a_line_that_is_no_trace_says_so(tmp_path: Path, text: str | bytes, says: str) -> None:
    content = (text.encode() if isinstance(text, str) else text).rstrip(b"\n") + b"\n" + line(trace()).encode()
    bad, good = replay(read(tmp_path, content), judge())
    assert bad["outcome"] == "unusable" and says in bad["errors"][0] and good["outcome"] == "same"


def test_files_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        read_traces(tmp_path / "none.jsonl")
    with pytest.raises(DataError, match="holds no line"):
        read(tmp_path, "\n")


def test_the_essence_of_a_reply_is_its_status_and_its_counts() -> None:
    assert essence("RESULT c1:\nstatus: failed\nstdout:\ntest result: FAILED. 2 passed; 1 failed; 0") == (
        "status failed 2 passed; 1 failed"
    )
    assert essence("RESULT c1:\nstatus: success") == "status success" and essence("") == ""


@pytest.mark.slow
@pytest.mark.skipif(not GLYPH.is_dir(), reason="the published data (../shared/data) is absent")
def test_the_published_traces_replay_without_a_difference() -> None:
    found = replay(read_traces(GLYPH / "heldout_traces.jsonl"), judge())
    assert Counter(item["outcome"] for item in found) == {"same": 61, "skipped": 14}
    assert sum(item["calls"] for item in found) == 285
    reasons = Counter(item["errors"][0] for item in found if item["outcome"] == "skipped")
    assert reasons == {NEVER_READ: 10, CUT: 4}
