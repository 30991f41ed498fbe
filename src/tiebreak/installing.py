"""Commands that install something, run one by one with their output shown."""

import subprocess
from collections.abc import Sequence

from tiebreak.errors import TiebreakError


def execute(command: Sequence[str], kind: type[TiebreakError]) -> None:
    """Run one command, its output shown. Raises an error of this kind, with its last line, where it fails."""
    print("+", *command, flush=True)
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    print(done.stdout + done.stderr, flush=True)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
        raise kind(f"{' '.join(command)}: status {done.returncode}: {last}")
