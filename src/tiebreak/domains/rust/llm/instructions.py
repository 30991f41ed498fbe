"""The words of a request: what a spec is, by the rules that the materializer judges by, and which one is wanted."""

from typing import Any

from tiebreak.chat import Message
from tiebreak.domains.rust.blueprints import MANIFEST, PROJECT_ROOT
from tiebreak.domains.rust.llm.orders import CATEGORIES, Order

SYSTEM = f"""\
You write training tasks for an agent that repairs small Rust crates. A task is one spec: a JSON object that holds a
crate with one bug and the plan by which a competent engineer repairs it. Every spec is executed with the real compiler
(Rust 1.95, edition 2021, no network) exactly as it is written; one that does not do what it says is thrown away. So
work the values out before you write them down.

The keys of the object, all of them needed and no others:
- family: the task family that was asked for, word for word.
- case_id: a new name for the task in lower-case letters, digits and underscores, which tells what is wrong.
- bug_category, difficulty: as asked for, word for word.
- user: one to three sentences in which a user asks for the repair. It holds the text {PROJECT_ROOT} (with the braces)
  where the crate's path belongs. It says what the code should do or what is observed, never the patch itself.
- expected_tool_sequence: the tool of each step, in order; the same tools as in steps.
- expected_output: in a run family the exact text that the repaired program prints, without its trailing newline, and
  null in a test family.
- files: the crate's files, path to full text: "{MANIFEST}" and "src/lib.rs" in a test family, "{MANIFEST}" and
  "src/main.rs" in a run family, nothing else.
- steps: the plan (below).
- final: the agent's closing message: one line that starts with "FINAL:" and says what was wrong and what now holds.

The crate:
- {MANIFEST} has a [package] table with name, version = "0.1.0" and edition = "2021", and no dependencies. Only the
  standard library may be used: no unsafe, no files, network, clock, threads, randomness or environment variables, no
  include! macros, no build script. Everything it prints is the same in every run (never iterate over a HashMap or a
  HashSet for output).
- Text is plain ASCII with Unix newlines, indented by spaces. No text anywhere holds a backtick, not even a comment.
- A test crate keeps its tests in one module at the end of src/lib.rs, under #[cfg(test)], that begins with
  use super::*; and has at least three #[test] functions that compare with assert_eq! or assert!. In a patch family at
  least one of them fails because of the bug and, where the crate compiles, at least one passes in spite of it. A
  program has a main that prints with println! and reads no input.
- In a patch family the crate as given must fail its tests (a program: print something else than expected_output), so
  that the bug shows. In a compiler category it does not compile; in every other it compiles, before and after each
  patch.
- The bug is a plausible slip inside otherwise sound, idiomatic code. No comment points at it.

The steps, each an object with a key "tool" and exactly these others:
- {{"tool": "read_file", "file_path": PATH}}
- {{"tool": "apply_patch", "file_path": PATH, "find": TEXT, "replace": TEXT}}: find must occur exactly once in the file
  as it is at that moment (after the patches before it), copied to the character, whitespace and newlines included.
  Take whole lines, with a neighbour where a line alone is not unique. replace is the new text. The part under
  #[cfg(test)] and {MANIFEST} may never be changed.
- {{"tool": "cargo_test", "expect_status": "success" or "failed"}} in test families, "cargo_run" in run families; a
  program that prints anything but expected_output counts as failed.

The families:
- patch_test_pass, patch_run_pass: read_file of the file to patch, apply_patch, then the cargo step with "success".
- patch_test_recover, patch_run_recover: the first attempts fail. An attempt is read_file, apply_patch and the cargo
  step; every attempt but the last expects "failed", the last one "success". A wrong attempt is what a hasty engineer
  might try: it changes the right place in a wrong way (in a compiler category it may still not compile). The find of
  a later attempt matches the file as the wrong patches left it.
- test_only, run_only: the crate is sound and nothing is to repair; the user only asks to run it. The one step is the
  cargo step with "success".

Difficulty: easy is one function and a one-line slip that user names; medium is two or three functions or types, and
user tells only what is observed; hard is several interacting functions or types, where the failing test stands far
from the cause, in at most 90 lines of code.

Answer with the JSON object alone: no prose, no fence around it.
"""


def messages(order: Order) -> list[Message]:
    """The conversation that asks for one spec."""
    return [Message(role="system", content=SYSTEM), Message(role="user", content=wish(order))]


def wish(order: Order) -> str:
    """Which spec is wanted."""
    attempts = f"wrong attempts before the right one: {order.failures}\n" if order.failures else ""
    return (
        "Write one spec.\n"
        f"family: {order.family}\n"
        f"bug_category: {order.category} ({CATEGORIES[order.category]})\n"
        f"difficulty: {order.difficulty}\n"
        f"{attempts}"
        f"expected_tool_sequence: {', '.join(order.tools)}\n"
        f"The code is about {order.subject}; take names and data from there, and do not write a textbook example."
    )


def reply_schema(order: Order) -> dict[str, Any]:
    """The JSON schema of the spec, in the subset that strict structured output takes: every key needed, none added."""
    text = {"type": "string"}
    return _object(
        {
            "family": {"type": "string", "enum": [order.family]},
            "case_id": text,
            "bug_category": {"type": "string", "enum": [order.category]},
            "difficulty": {"type": "string", "enum": [order.difficulty]},
            "user": text,
            "expected_tool_sequence": {"type": "array", "items": {"type": "string", "enum": sorted(set(order.tools))}},
            "expected_output": text if order.runs else {"type": "null"},
            "files": _object({MANIFEST: text, order.source_path: text}),
            "steps": {"type": "array", "items": {"anyOf": [_step(tool, order) for tool in dict.fromkeys(order.tools)]}},
            "final": text,
        }
    )


def _step(tool: str, order: Order) -> dict[str, Any]:
    text = {"type": "string"}
    keys: dict[str, dict[str, Any]] = {
        "read_file": {"file_path": {"type": "string", "enum": [order.source_path]}},
        "apply_patch": {
            "file_path": {"type": "string", "enum": [order.source_path]},
            "find": text,
            "replace": text,
        },
    }
    statuses = ["failed", "success"] if order.failures else ["success"]
    other: dict[str, Any] = {"expect_status": {"type": "string", "enum": statuses}}
    return _object({"tool": {"type": "string", "enum": [tool]}, **keys.get(tool, other)})


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
