"""Raw text for a base model made from scratch: crate lines in disorder, and calls that copy some of them.

Copying a line of a file into a patch is what a small model learns last (FACTS). These exercises teach it alone: nothing
in them says which line is wrong or how to mend it.
"""

from collections.abc import Iterator, Sequence
from random import Random

from tiebreak.chat import SYSTEM_MESSAGE
from tiebreak.domains.base import TraceTurn
from tiebreak.domains.rust.blueprints import Blueprint
from tiebreak.domains.rust.protocol import format_call, format_result

PROTOCOL_STRINGS = (
    SYSTEM_MESSAGE,
    'CALL read_file {"id":"c',
    'CALL apply_patch {"id":"c',
    'CALL cargo_test {"id":"c',
    'CALL cargo_run {"id":"c',
    '","file_path":"crates/',
    '","project_path":"crates/',
    "/src/lib.rs",
    "/src/main.rs",
    '","find":"',
    '","replace":"',
    '"}',
    "RESULT c",
    ":\nstatus: success\nstdout:\n",
    ":\nstatus: failed\nstdout:\n",
    ":\nstatus: failed\nstderr:\n",
    "patch applied",
    "FINAL: ",
    "\n#[cfg(test)]\nmod tests {\n    use super::*;\n",
    "\n    #[test]\n    fn ",
    "\n        assert_eq!(",
)
LINES = (8, 30)
PATCHES = (3, 8)


def copy_exercises(cases: Sequence[Blueprint], rng: Random) -> Iterator[list[TraceTurn]]:
    """Endless exercises: a reading of lines drawn from all crates, then patches that copy some of them."""
    pool = [line for case in cases for line in case.files[case.source_path].splitlines() if line.strip()]
    while True:
        case = rng.choice(cases)
        lines = [rng.choice(pool) for _ in range(rng.randint(*LINES))]
        root = f"crates/{case.case_id}"
        user = case.user.replace("{project_root}", root)
        reading = format_result("c1", ok=True, stdout="\n".join(lines))
        turns: list[TraceTurn] = [
            {"role": "user", "content": user, "loss": False},
            {"role": "tool", "content": reading, "loss": False},
        ]
        calls = [
            format_call(
                "apply_patch",
                f"c{number}",
                {"file_path": f"{root}/{case.source_path}", "find": rng.choice(lines), "replace": rng.choice(lines)},
            )
            for number in range(2, 2 + rng.randint(*PATCHES))
        ]
        turns.append({"role": "assistant", "content": "\n".join(calls), "loss": True})
        yield turns
