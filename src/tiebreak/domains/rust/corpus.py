"""Raw text for a base model made from scratch: crate lines in disorder, and calls that copy some of them.

Copying a line of a file into a patch is what a small model learns last. These exercises teach it alone: nothing
in them says which line is wrong or how to mend it.
"""

import re
from collections.abc import Iterator, Sequence
from random import Random

from tiebreak.chat import SYSTEM_MESSAGE
from tiebreak.domains.base import Stage, TraceTurn
from tiebreak.domains.rust.blueprints import PROJECT_ROOT, Blueprint
from tiebreak.domains.rust.generator import generate, whole_code
from tiebreak.domains.rust.protocol import format_call, format_result
from tiebreak.domains.rust.toolbox import project_root
from tiebreak.seeds import derive

# The templates that the checked-in base (resources/base) has read. They are named one by one, because with `all` every
# new template would change the base's tokenizer and weights, and with them every number of the laptop study.
TEMPLATES = (
    "count_limit",
    "sum_skip",
    "sum_range",
    "best_of",
    "sort_rows",
    "parse_pair",
    "valid_code",
    "bands",
    "price_by_kind",
    "cycle",
    "level",
    "setting",
    "lookup",
    "overlap",
    "shared_length",
    "count_at",
    "again",
    "with_size",
    "longer",
    "raise_all",
    "total_for",
    "mean",
    "longest_run",
    "first_match",
)
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
LINES = (6, 26)
PATCHES = (4, 9)
SCRAMBLED = 0.4
PIECE = re.compile(r"[A-Za-z]+|[0-9]+")


def crates(root_seed: int, size: int) -> list[Blueprint]:
    """`size` crates of TEMPLATES from a seed stream of their own, no two alike as a whole."""
    return generate(TEMPLATES, size, derive(root_seed, "base", "corpus"), keys=whole_code)


def stages(cases: Sequence[Blueprint], rng: Random) -> list[Stage]:
    """The exercises of a warm-up, easy ones first.

    Lines as they stand teach a model to look back; half of the later ones have words and numbers exchanged at random,
    so that what it remembers of the templates no longer helps and it has to copy.
    """
    return [Stage(0.35, copy_exercises(cases, rng, 0.0)), Stage(0.65, copy_exercises(cases, rng, 0.5))]


def copy_exercises(cases: Sequence[Blueprint], rng: Random, scrambled: float) -> Iterator[list[TraceTurn]]:
    """Endless exercises: a reading of lines drawn from all crates, then patches that copy some of them.

    scrambled: the share of exercises in which words and numbers of the lines are exchanged.
    """
    pool = [line for case in cases for line in case.files[case.source_path].splitlines() if line.strip()]
    words = sorted({word for line in pool for word in PIECE.findall(line)})
    while True:
        case = rng.choice(cases)
        lines = [rng.choice(pool) for _ in range(rng.randint(*LINES))]
        if rng.random() < scrambled:
            lines = [scramble(line, words, rng) for line in lines]
        root = project_root(case.case_id)
        user = case.user.replace(PROJECT_ROOT, root)
        reading = format_result("c1", ok=True, stdout="\n".join(lines))
        calls = [
            format_call(
                "apply_patch",
                f"c{number}",
                {"file_path": f"{root}/{case.source_path}", "find": rng.choice(lines), "replace": rng.choice(lines)},
            )
            for number in range(2, 2 + rng.randint(*PATCHES))
        ]
        yield [
            {"role": "user", "content": user, "loss": False},
            {"role": "tool", "content": reading, "loss": False},
            {"role": "assistant", "content": "\n".join(calls), "loss": True},
        ]


def scramble(line: str, words: Sequence[str], rng: Random) -> str:
    """The line with some of its words and numbers replaced by others."""
    return PIECE.sub(lambda match: rng.choice(words) if rng.random() < SCRAMBLED else match.group(), line)
