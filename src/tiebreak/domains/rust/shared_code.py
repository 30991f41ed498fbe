"""What two cases must not share across splits: the function as it is given, and as its reference repairs it.

A case's tests are other inputs to the same task, so they are left out, and so is a `main` that the generator made:
whoever has seen the repaired function in training has seen the answer, whatever is printed around it. In a crate that
others wrote, `main` may be the very thing to repair.
"""

import re

from tiebreak.domains.rust.blueprints import Blueprint
from tiebreak.domains.rust.crate import split_tests

_MAIN = re.compile(r"^fn main\(\) \{\n.*?^\}\n?", re.MULTILINE | re.DOTALL)


def given(case: Blueprint) -> str:
    """The case's code as the model meets it, without tests and a generated `main`."""
    return _task(case, case.files[case.source_path])


def repaired(case: Blueprint) -> str:
    """The same after the case's own patches."""
    source = case.files[case.source_path]
    for step in case.steps:
        if step.tool == "apply_patch" and step.file_path == case.source_path:
            source = source.replace(step.find or "", step.replace or "", 1)
    return _task(case, source)


def forms(case: Blueprint) -> dict[str, str]:
    """Both, by the names that reports give them."""
    return {"as given": given(case), "as repaired": repaired(case)}


def answer(case: Blueprint) -> str:
    """What the reference writes: the text of its right patches, and the output that it then prints; may be empty."""
    written, right = [], ""
    for step in reversed(case.steps):
        right = step.expect_status or right
        if step.tool == "apply_patch" and right == "success":
            written.append(step.replace or "")
    return "\n".join([*reversed(written), *([case.expected_output] if case.expected_output is not None else [])])


def shared_code(case: Blueprint) -> list[str]:
    """Both, layout and comments apart."""
    return [bare(given(case)), bare(repaired(case))]


def bare(code: str) -> str:
    """Code without comment lines and indentation."""
    return "\n".join(line.strip() for line in code.splitlines() if not line.lstrip().startswith("//")).strip()


def _task(case: Blueprint, source: str) -> str:
    code = split_tests(source)[0]
    rest = _MAIN.sub("", code) if case.generated else code
    return rest if rest.strip() else code
