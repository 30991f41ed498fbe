"""Facts from replies and from verdicts, in both profiles."""

import pytest

from tiebreak.chat import Message
from tiebreak.domains.rust.asks import Verdict
from tiebreak.domains.rust.facts import Facts, best, published, stated, witnessed
from tiebreak.domains.rust.protocol import format_call, format_result
from tiebreak.domains.rust.transcript import Transcript, read_transcript

BROKEN = "error: could not compile `a` (lib test) due to 1 previous error"
TESTS = "running 3 tests\n\ntest result: FAILED. {} passed; {} failed; 0 ignored; 0 measured; 0 filtered out"


def after(*replies: tuple[bool, str, str, bool], tool: str = "cargo_test") -> Transcript:
    """A transcript with one cargo call for each (ok, stdout, stderr, timed_out)."""
    turns: list[Message] = []
    for number, reply in enumerate(replies):
        turns.append({"role": "assistant", "content": format_call(tool, f"c{number}", {"project_path": "crates/a"})})
        turns.append({"role": "tool", "content": format_result(f"c{number}", *reply)})
    return read_transcript(turns)


@pytest.mark.parametrize(
    ("reply", "as_published", "as_true"),
    [
        ((False, "", f"error: expected `;`\n\n{BROKEN}", False), Facts(phase=1), Facts(phase=1)),
        ((False, "", f"error[E0308]: mismatched\n\n{BROKEN}", False), Facts(phase=2), Facts(phase=2)),
        ((False, "", f"error[E0382]: moved\n\n{BROKEN}", False), Facts(phase=3), Facts(phase=3)),
        ((False, "", f"error[E0106]: lifetime\n\n{BROKEN}", False), Facts(phase=3), Facts(phase=2)),
        ((False, "", f"error[E0596]: borrow\n\n{BROKEN}", False), Facts(phase=2), Facts(phase=3)),
        ((False, "", f"error[E0308]: a\nerror[E0499]: b\n\n{BROKEN}", False), Facts(phase=3), Facts(phase=3)),
        ((False, TESTS.format(1, 2), "error: test failed", False), Facts(True, 4, 1, 3), Facts(True, 4, 1, 3)),
        ((False, "41", 'expected exact output "42"', False), Facts(), Facts(True, 4)),
        ((False, "", "error: the time limit was reached", True), Facts(phase=1), Facts(True, 4)),
        ((False, "", "Execution timed out after 30s", True), Facts(), Facts(True, 4)),
        (
            (False, "error[E0382]: printed", "thread 'main' panicked at src/main.rs:2", False),
            Facts(phase=3),
            Facts(True, 4),
        ),
        ((True, "42", "", False), Facts(True, 4), Facts(True, 4)),
        ((False, "", "no crate there, expected crates/a", False), Facts(), Facts()),
    ],
)
def test_one_reply_in_both_profiles(reply: tuple[bool, str, str, bool], as_published: Facts, as_true: Facts) -> None:
    assert published(after(reply)) == as_published
    assert stated(after(reply)) == as_true


@pytest.mark.parametrize("code", ["E0373", "E0381", "E0384", "E0596"])
def test_the_true_table_knows_all_of_the_borrow_checker(code: str) -> None:
    transcript = after((False, "", f"error[{code}]: x\n\n{BROKEN}", False))
    assert (published(transcript).phase, stated(transcript).phase) == (2, 3)


def test_the_best_of_several_calls_counts() -> None:
    replies = [
        (False, TESTS.format(1, 2), "", False),
        (False, TESTS.format(2, 1), "", False),
        (False, "", BROKEN, False),
    ]
    assert published(after(*replies)) == Facts(True, 4, 2, 3)
    assert best([]) == Facts()


def test_calls_without_a_reply_and_other_tools_tell_nothing() -> None:
    text = f"error[E0382]: x\n{BROKEN}"
    reader: list[Message] = [
        {"role": "assistant", "content": format_call("read_file", "c0", {"file_path": "crates/a/src/lib.rs"})},
        {"role": "tool", "content": format_result("c0", True, text)},
        {"role": "assistant", "content": format_call("cargo_test", "c1", {"project_path": "crates/a"})},
    ]
    assert published(read_transcript(reader)) == stated(read_transcript(reader)) == Facts()


def test_verdicts_speak_for_themselves() -> None:
    broken = Verdict(False, False, "", "", compiled=False, phase=3)
    failing = Verdict(False, False, "", "", compiled=True, phase=4, tests_passed=1, tests_total=4)
    better = Verdict(False, False, "", "", compiled=True, phase=4, tests_passed=1, tests_total=2)
    assert witnessed([broken]) == Facts(False, 3)
    assert witnessed([failing, better, broken]) == Facts(True, 4, 1, 2)
    assert witnessed([]).fraction == 0
