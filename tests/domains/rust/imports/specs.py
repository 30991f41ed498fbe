"""Small specs in the published form, sound and broken, for the tests of imports and of the command line."""

import json
from pathlib import Path
from typing import Any

GLYPH = Path(__file__).parents[5] / "shared" / "data" / "glyph"
MANIFEST = '[package]\nname = "one"\nversion = "0.1.0"\nedition = "2021"\n'
LIBRARY = """pub fn more(n: i32) -> i32 {
    n + 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small() {
        assert_eq!(more(1), 2);
    }
}
"""


def spec(**changes: Any) -> dict[str, Any]:
    """A sound spec, with changes."""
    sound = {
        "family": "patch_test_pass",
        "case_id": "one_more",
        "bug_category": "aggregation_reporting",
        "difficulty": "easy",
        "user": "Fix {project_root}.",
        "expected_tool_sequence": ["read_file", "apply_patch", "cargo_test"],
        "expected_output": None,
        "files": {"Cargo.toml": MANIFEST, "src/lib.rs": LIBRARY},
        "steps": [
            {"tool": "read_file", "file_path": "src/lib.rs"},
            {"tool": "apply_patch", "file_path": "src/lib.rs", "find": "n + 2", "replace": "n + 1"},
            {"tool": "cargo_test", "expect_status": "success"},
        ],
        "final": "FINAL: done.",
    }
    return sound | changes


def patched(**changes: Any) -> dict[str, Any]:
    """The spec with another patch step."""
    read, patch, cargo = spec()["steps"]
    return spec(steps=[read, patch | changes, cargo])


def reply(custom_id: str, item: dict[str, Any] | str) -> str:
    """A model's reply as a line."""
    text = item if isinstance(item, str) else json.dumps(item)
    return json.dumps({"custom_id": custom_id, "text": text}) + "\n"


TWICE = json.dumps(spec()).replace('"find": "n + 2"', '"find": "n", "find": "n + 2"')

# What is wrong, the line of the file, and what the error must say.
_LINES: dict[str, tuple[bytes, str]] = {
    "a missing key": (
        reply("bad", {k: v for k, v in spec().items() if k != "steps"}).encode(),
        "steps: Field required",
    ),
    "find occurs twice": (reply("bad", patched(find="n")).encode(), "step 2: find occurs"),
    "find given twice": (reply("bad", TWICE).encode(), "the key 'find' is given twice"),
    "half a surrogate pair": (
        reply("bad", spec(final="FINAL: \ud800")).encode(),
        "final: holds half a surrogate pair",
    ),
    "Windows newlines": (
        reply("bad", spec(files={"Cargo.toml": MANIFEST, "src/lib.rs": LIBRARY.replace("\n", "\r\n")})).encode(),
        "src/lib.rs has carriage returns; Unix newlines are expected",
    ),
    "a file that escapes": (
        reply("bad", spec(files=spec()["files"] | {"../../etc/motd": "hello"})).encode(),
        "../../etc/motd not allowed",
    ),
    "a patch that escapes": (
        reply("bad", patched(file_path="../one/src/lib.rs")).encode(),
        "../one/src/lib.rs is no file",
    ),
    "a bad case id": (reply("bad", spec(case_id="../x")).encode(), "case_id '../x'"),
    "a repeated id": (reply("good", spec(case_id="other")).encode(), "this id was used before; ids must be unique"),
    "bytes that are no UTF-8": (b'{"custom_id": "bad", "text": "caf\xe9"}\n', "is no UTF-8; save the file as UTF-8"),
    "a truncated reply": (reply("bad", json.dumps(spec())[:190]).encode(), "invalid JSON spec: Unterminated string"),
    "a truncated line": (reply("bad", spec())[:200].encode() + b"\n", "no JSON (Unterminated string"),
    "no object": (b"[1, 2]\n", "found a list; one JSON object a line is expected"),
    "no custom_id": (b'{"text": "{}"}\n', "custom_id: missing, a name is expected"),
    "no text": (b'{"custom_id": "bad", "text": 3}\n', "text: found 3, the model's reply is expected"),
    "too deep": (b'{"custom_id": "bad", "text": ' + b"[" * 100_000 + b"\n", "no JSON"),
}

# The same with a custom_id of its own for each.
BAD_LINES = {
    what: (line.replace(b'"custom_id": "bad"', b'"custom_id": ' + json.dumps(what).encode()), says)
    for what, (line, says) in _LINES.items()
}
