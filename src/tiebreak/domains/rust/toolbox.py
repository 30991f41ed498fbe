"""The tools that need no verdict: reading and patching the files of a crate in memory.

Paths are virtual: `crates/<case_id>/src/lib.rs`, in exactly this form, names a file of the crate; anything else (`..`,
absolute paths, `./`, doubled or backward slashes, other spellings) names none. Nothing here touches a disk.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from tiebreak.domains.rust.crate import immutable_change
from tiebreak.domains.rust.protocol import Call, cut

PARAMS: Mapping[str, tuple[str, ...]] = {
    "read_file": ("file_path",),
    "apply_patch": ("file_path", "find", "replace"),
    "cargo_test": ("project_path",),
    "cargo_run": ("project_path",),
}
LARGEST_FILE = 200_000  # characters; a crate of this domain has some hundreds to some thousands


@dataclass(frozen=True)
class Reply:
    """What a tool says. `tampered` names the immutable part that a refused patch would have changed."""

    ok: bool
    stdout: str = ""
    stderr: str = ""
    timed_out: bool = False
    tampered: str | None = None


def project_root(case_id: str) -> str:
    """The virtual path of a case's crate."""
    return f"crates/{case_id}"


def refusal(call: Call, root: str) -> Reply | None:
    """Why a call cannot run at all: an unknown tool, missing or unknown arguments, a wrong `project_path`.

    A refused cargo call repeats nothing that the model wrote, or it could put words into the published scorer's mouth.
    """
    wanted = PARAMS.get(call.tool)
    if wanted is None:
        return Reply(False, stderr=f"unknown tool, expected one of {', '.join(PARAMS)}")
    if set(call.params) != set(wanted):
        return Reply(False, stderr=f"wrong arguments, expected id, {', '.join(wanted)}")
    if call.is_cargo and call.params["project_path"] != root:
        return Reply(False, stderr=f"no crate there, expected {root}")
    return None


def read_file(files: Mapping[str, str], root: str, call: Call, limit: int) -> Reply:
    """The file's text, cut in the middle at `limit` characters."""
    path = _inside(files, root, call)
    if path is None:
        return _no_file(call)
    return Reply(True, stdout=cut(files[path], limit))


def apply_patch(files: dict[str, str], root: str, call: Call) -> Reply:
    """Replace `find`, which must occur exactly once, by `replace`; changes `files` only if all is well."""
    path = _inside(files, root, call)
    if path is None:
        return _no_file(call)
    before, find, replace = files[path], call.params["find"], call.params["replace"]
    count = before.count(find) if find else 0
    if count != 1:
        return Reply(False, stderr=f"find occurs {count} times, expected once" if find else "find is empty")
    after = before.replace(find, replace)
    if len(after) > LARGEST_FILE:
        return Reply(False, stderr=f"the file would have {len(after)} characters, at most {LARGEST_FILE} are allowed")
    if (reason := immutable_change(before, after, path)) is not None:
        return Reply(False, stderr=reason, tampered=f"{path}: {reason}")
    files[path] = after
    return Reply(True, stdout="patch applied")


def _inside(files: Mapping[str, str], root: str, call: Call) -> str | None:
    """The path inside the crate, if it names one of its files in exactly that form."""
    head, slash, path = call.params["file_path"].partition(f"{root}/")
    return path if slash and not head and path in files else None


def _no_file(call: Call) -> Reply:
    return Reply(False, stderr=f"no file at {call.params['file_path']}")
