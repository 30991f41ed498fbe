"""The host as a sandbox: no confinement but rlimits. For disposable containers, never chosen automatically."""

import os
import shutil
from collections.abc import Sequence

from tiebreak.sandbox.bubblewrap import Box
from tiebreak.sandbox.limits import Limits

CHOICE, OATH = "TIEBREAK_SANDBOX", "TIEBREAK_I_KNOW_THIS_RUNS_MODEL_CODE"


def allowed() -> bool:
    """Whether the user asked for the host in both ways: TIEBREAK_SANDBOX=host and the oath variable set to 1."""
    return os.environ.get(CHOICE) == "host" and os.environ.get(OATH) == "1"


def _outside(text: str, box: Box) -> str:
    """A path inside the box as the host's path."""
    for outside, inside in (*box.read_only, *box.writable):
        if text == inside or inside + "/" in text:
            return text.replace(inside, outside, 1)
    if box.root is not None and text.startswith("/"):
        return box.root + text
    return text


def command(argv: Sequence[str], box: Box, limits: Limits) -> list[str]:
    """`argv` with the host's paths, under the limits of a process."""
    words = [_outside(word, box) for word in argv]
    return [shutil.which("prlimit") or "prlimit", *limits.prlimit()[1:], *words]


def options(box: Box) -> dict[str, object]:
    """Popen options: the working folder and the environment of the box, a session of its own."""
    environment = {name: _outside(value, box) for name, value in box.environment}
    return {"cwd": _outside(box.folder, box), "env": environment, "start_new_session": True}
