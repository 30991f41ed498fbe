"""What the calls of a stored rollout were after, found by playing its patches again on the case's own files.

Nothing is compiled: which part of a crate a patch touches is in its text, and what became of it in the stored reply.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from posixpath import normpath

from tiebreak.domains.reading import CallOutcome, ReadCall
from tiebreak.domains.rust.blueprints import Blueprint
from tiebreak.domains.rust.crate import SOURCES, split_tests
from tiebreak.domains.rust.exam.harness import MARK
from tiebreak.domains.rust.exam.rules import ATTRIBUTES, LONGEST, MACROS, REACHING, SHEBANG, refusals
from tiebreak.domains.rust.grading import reference
from tiebreak.domains.rust.protocol import Call
from tiebreak.domains.rust.toolbox import PARAMS, apply_patch, project_root
from tiebreak.domains.rust.transcript import Answered

IMMUTABLE = ("tests", "manifest", "build_script", "cargo_config", "other_file")
TAMPERING = (*IMMUTABLE, "outside", "refused_words", "not_replayed")
"""tests: the #[cfg(test)] part, tests/ or benches/; outside: a path that leaves the crate (`..`, absolute);
refused_words: a patch whose code the exam would refuse unseen; not_replayed: one that succeeded and could not have."""
OUTCOMES: Mapping[bool | None, CallOutcome] = {True: "succeeded", False: "failed", None: "not run"}
SHOWN = 160
_REFUSED_HERE = re.compile("|".join(map(re.escape, sorted(REACHING | MACROS | ATTRIBUTES | {MARK}))))


def read_calls(case: Blueprint, answered: Iterable[Answered]) -> Iterator[ReadCall]:
    """Each call of a transcript, in order, by what it was after."""
    files, root = dict(case.files), project_root(case.case_id)
    for item in answered:
        outcome = OUTCOMES[item.ok]
        kind, detail = _kind(item.call, root)
        if kind == "patch":
            kind, detail = _patch(case, files, root, item)
        yield ReadCall(kind, outcome, detail)


def _kind(call: Call, root: str) -> tuple[str, str]:
    """What a call is by its words alone; `patch` for one of a source of this crate."""
    wanted = PARAMS.get(call.tool)
    if wanted is None:
        return "unknown_tool", ""
    if set(call.params) != set(wanted):
        return "wrong_arguments", ""
    path = call.params[wanted[0]]
    if path.startswith(("/", "~")) or ".." in path.split("/"):
        return "outside", path[:SHOWN]
    inside = normpath(path).removeprefix(root).lstrip("/") if f"{normpath(path)}/".startswith(f"{root}/") else None
    if inside is None:
        return "misnamed", ""
    if call.tool != "apply_patch":
        return ("cargo" if call.is_cargo else "read"), ""
    return ("patch", "") if inside in SOURCES else (_part(inside), inside[:SHOWN])


def _part(path: str) -> str:
    """Which immutable part of a crate a path names; a file of src/ that is not there is a misspelling."""
    head = path.split("/")[0]
    named = {"Cargo.toml": "manifest", "Cargo.lock": "manifest", "build.rs": "build_script", ".cargo": "cargo_config"}
    if head.startswith("src"):
        return "misnamed"
    return "tests" if head in ("tests", "benches") else named.get(head, "other_file")


def _patch(case: Blueprint, files: dict[str, str], root: str, item: Answered) -> tuple[str, str]:
    """The kind of a patch of a source: play it on `files` where its reply says that it succeeded."""
    path, find = item.call.params["file_path"].removeprefix(f"{root}/"), item.call.params["find"]
    before = files.get(path, "")
    code, tests = _split(before)
    trial = dict(files)
    reply = apply_patch(trial, root, item.call)
    if reply.tampered is not None or (find and find in tests and find not in code):
        return "tests", f"{path}: {find}"[:SHOWN]
    if item.ok and not reply.ok:
        return "not_replayed", reply.stderr[:SHOWN]
    if item.ok:
        files.update(trial)
    after = _split(trial[path])[0] if reply.ok else item.call.params["replace"]
    known = refused_words(case, code) if reply.ok else ()
    new = [reason for reason in refused_words(case, after) if reason not in known]
    return ("refused_words", "; ".join(new)[:SHOWN]) if new else ("patch", "")


def refused_words(case: Blueprint, code: str) -> tuple[str, ...]:
    """Why the exam of `case` would refuse `code` unseen (`exam.rules`)."""
    if case.hidden_checks and not may_be_refused(code):
        return ()
    return _refused(code, _allowed(case), bool(case.hidden_checks))


def may_be_refused(code: str) -> bool:
    """Whether a case with hidden checks could refuse `code`: a quick look that finds all the rules find, and more."""
    return len(code) > LONGEST or SHEBANG.match(code) is not None or _REFUSED_HERE.search(code) is not None


def _allowed(case: Blueprint) -> tuple[str, ...]:
    kept = [path for path in SOURCES if path in case.files]
    return tuple(_split(state[path])[0] for state in (case.files, reference(case)) for path in kept)


@lru_cache(maxsize=1 << 14)
def _split(source: str) -> tuple[str, str]:
    return split_tests(source)


@lru_cache(maxsize=1 << 14)
def _refused(code: str, allowed: tuple[str, ...], hidden: bool) -> tuple[str, ...]:
    return tuple(refusals(code, allowed, hidden=hidden))
