"""The words around a crate: what the user asks, the names of tests, the closing sentence."""

from random import Random

from tiebreak.domains.rust.generator.sketch import KINDS

_TEST_NAMES = ("small", "plain", "edge", "mixed", "short", "usual", "close", "other", "basic", "simple")
_EASY_TEST = (
    "The crate {project_root} should {task}. Fix it and run the tests.",
    "Make {project_root} {task}, then run its tests.",
    "{project_root} does not {task} as it should. Repair it and test it.",
)
_OPEN_TEST = (
    "A test fails in {project_root}. Find the bug, fix it and run the tests.",
    "Repair {project_root} so that its tests pass.",
    "The tests of {project_root} are red. Fix the wrong line and test again.",
)
_EASY_RUN = (
    "The program {project_root} should {task}. Fix it and run it.",
    "Make {project_root} {task}, then run it.",
    "{project_root} does not {task} as it should. Repair it and run it.",
)
_OPEN_RUN = (
    "Fix {project_root}, then run it. It should print {output}.",
    "Repair {project_root} so that it prints {output}, and run it.",
    "The program {project_root} should print {output} but does not. Fix it and run it.",
)
_TEST_ONLY = (
    "Run the tests of {project_root} and say whether they pass.",
    "Do the tests of {project_root} pass? Run them.",
    "Check {project_root} with its tests. Change nothing.",
)
_RUN_ONLY = (
    "Run {project_root} and report what it prints.",
    "What does {project_root} print? Run it.",
    "Run the program {project_root} and tell its output.",
)
_FIXED_TEST = ("Fixed {what} and the tests pass.", "Corrected {what}; all tests pass.")
_FIXED_RUN = ("Fixed {what} and the output is right.", "Corrected {what}; the program prints what it should.")


def test_names(rng: Random, count: int) -> list[str]:
    """`count` different names for test functions."""
    return rng.sample(_TEST_NAMES, count)


def _on_one_line(output: str) -> str:
    return " then ".join(output.split("\n"))


def user(rng: Random, family: str, difficulty: str, task: str, output: str | None) -> str:
    """What the user asks; easy ones say the task, the others send the agent to the tests or the output."""
    if family in ("test_only", "run_only"):
        return rng.choice(_TEST_ONLY if family == "test_only" else _RUN_ONLY)
    if output is None:
        forms = _EASY_TEST if difficulty == "easy" else _OPEN_TEST
    else:
        forms = _EASY_RUN if difficulty == "easy" else _OPEN_RUN
    return rng.choice(forms).replace("{task}", task).replace("{output}", _on_one_line(output or ""))


def final(rng: Random, family: str, kind: str, output: str | None) -> str:
    """The closing sentence, with its `FINAL: `."""
    if family == "test_only":
        return f"FINAL: {rng.choice(('All tests pass.', 'Yes, the tests pass.'))}"
    if family == "run_only":
        return f"FINAL: It prints {_on_one_line(output or '')}."
    return "FINAL: " + rng.choice(_FIXED_TEST if output is None else _FIXED_RUN).format(what=KINDS[kind])
