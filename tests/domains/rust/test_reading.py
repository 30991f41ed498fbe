from typing import Any

import pytest

from tiebreak.domains.reading import StoredRollout
from tiebreak.domains.rust.facts import Facts
from tiebreak.domains.rust.protocol import format_call, format_result
from tiebreak.domains.rust.reading import PHASES, SLIPS, RustReader, reached, slips
from tiebreak.domains.rust.rewards import PUBLISHED_TABLES, reward
from tiebreak.domains.rust.transcript import read_transcript
from tiebreak.errors import DataError

ROOT = "crates/x"


def turns(*replies: tuple[str, bool | None, str], final: str = "FINAL: done.") -> list[Any]:
    """A conversation of cargo calls with their replies (tool, ok, stderr); None: never answered."""
    found = []
    for number, (tool, ok, text) in enumerate(replies):
        found.append({"role": "assistant", "content": format_call(tool, f"c{number}", {"project_path": ROOT})})
        if ok is not None:
            reply = format_result(f"c{number}", ok, stderr=text, timed_out="timed out" in text)
            found.append({"role": "tool", "content": reply})
    return [*found, {"role": "assistant", "content": final}] if final else found


@pytest.mark.parametrize(
    ("conversation", "facts", "phase"),
    [
        (turns(), Facts(), "no_verdict"),
        (turns(("cargo_test", None, ""), final=""), Facts(), "no_verdict"),
        (turns(("cargo_test", False, "error[E0308]: no\nerror: could not compile")), Facts(phase=2), "never_compiled"),
        (turns(("cargo_test", False, "timed out")), Facts(True, 4), "compiled"),
        (turns(("cargo_run", False, "timed out")), Facts(True, 4), "compiled"),
        (turns(("cargo_test", False, "failed")), Facts(True, 4, 0, 2), "ran"),
        (turns(("cargo_run", False, 'expected exact output "4"')), Facts(True, 4), "ran"),
        (turns(("cargo_run", False, "thread 'main' panicked at src/main.rs")), Facts(True, 4), "ran"),
        (turns(("cargo_test", False, "failed")), Facts(True, 4, 1, 2), "some_tests_passed"),
        (turns(("cargo_test", False, "no"), ("cargo_test", True, "")), Facts(True, 4, 2, 2), "success"),
    ],
)
def test_how_far_a_rollout_came(conversation, facts, phase) -> None:
    assert phase in PHASES
    assert reached(read_transcript(conversation), facts) == phase


def test_a_program_that_never_built_did_not_run_though_another_call_compiled() -> None:
    conversation = turns(("cargo_run", False, "error: could not compile `x`"), ("cargo_test", False, "timed out"))
    assert reached(read_transcript(conversation), Facts(True, 4)) == "compiled"


def test_slips_by_hand() -> None:
    call = format_call("cargo_test", "c1", {"project_path": f"{ROOT}/src/lib.rs"})
    content = "\n".join(["CALLX", "CALL broken", call, call, "FINAL: one", "FINAL: two"])
    found = slips(read_transcript([{"role": "assistant", "content": content}]))
    wanted = {"malformed": 1, "glued": 1, "names_source": 2, "no_final": 0, "extra_final": 1, "late_call": 0}
    assert found == wanted | {"repeated_id": 0}  # the second c1 was never run
    again = turns(("cargo_test", False, "failed")) * 2
    assert slips(read_transcript(again))["repeated_id"] == 1
    clean = slips(read_transcript(turns(("cargo_test", True, ""))))
    assert clean == dict.fromkeys(SLIPS, 0)
    late = slips(read_transcript(turns(("cargo_test", True, ""), ("cargo_test", True, ""), final="no more")))
    assert (late["late_call"], late["no_final"]) == (1, 1)


def test_rewards_are_those_of_the_table(cases) -> None:
    case, facts = cases[0], Facts(True, 4, 1, 2)
    conversation = turns(("cargo_test", False, "failed"))
    stored = {"compiled": True, "phase": 4, "tests_passed": 1, "tests_total": 2, "tampered": [], "calls": []}
    reader = RustReader(cases, PUBLISHED_TABLES)
    found = reader.read(StoredRollout(case.case_id, conversation, "final", stored))
    wanted = {name: reward(conversation, False, table, facts) for name, table in PUBLISHED_TABLES.items()}
    assert found.rewards == wanted and wanted["dense"] != wanted["sparse"]
    over = reader.read(StoredRollout(case.case_id, conversation, "budget", stored))
    assert over.rewards["sparse"] == wanted["sparse"] - 5
    assert reader.read(StoredRollout(case.case_id, conversation, "error", stored)).rewards == {}
    assert reader.read(StoredRollout(case.case_id, conversation, "final")).rewards == {}


def test_an_unknown_case_is_refused(cases) -> None:
    with pytest.raises(DataError, match=r"case nobody is not among the cases"):
        RustReader(cases).read(StoredRollout("nobody", [], "final"))
