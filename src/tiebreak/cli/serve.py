"""`tiebreak serve`: the OpenEnv server of the fathom domain, in an environment of its own."""

import argparse
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tiebreak.digest import file_digest
from tiebreak.errors import ConfigError

ROOT = Path(__file__).resolve().parents[3]
DESCRIPTION = """\
Serve the fathom environment: OpenEnv's routes (/reset, /step, /state, /health, /docs, the WebSocket /ws), a page at /
to play an episode, and one at /demo that shows recorded ones. The first call makes .venv-openenv from
requirements/openenv.txt (some minutes). With --keep, only write the episodes that /demo would show to a file.
"""


def register(subparsers: Any) -> None:
    """Add the parser of `tiebreak serve`."""
    parser = subparsers.add_parser("serve", help="serve the fathom environment", description=DESCRIPTION)
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: this machine alone)")
    parser.add_argument("--port", type=int, default=8000)
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--demo", type=Path, metavar="PATH", help="a finished fathom study's folder, or a kept file")
    shown.add_argument(
        "--scripted", action="store_true", help="with --keep: play episodes by a script, without a model"
    )
    parser.add_argument("--keep", type=Path, metavar="FILE", help="write what /demo shows to FILE, and serve nothing")
    parser.add_argument("--python", type=Path, help="a Python that has requirements/openenv.txt; none is made then")
    parser.set_defaults(run=run)


def run(asked: argparse.Namespace) -> int:
    """Keep episodes, or become the server."""
    if asked.keep is not None:
        return keep(asked.keep, asked.demo, asked.scripted)
    if asked.scripted:
        raise ConfigError("--scripted is for --keep FILE; then serve them with --demo FILE")
    if not 0 < asked.port < 1 << 16:
        raise ConfigError(f"--port {asked.port}: is no port; a number from 1 to 65535 is expected")
    python = asked.python or environment(ROOT / ".venv-openenv")
    check_python(python)
    paths = [str(ROOT / "src"), str(ROOT / "environments" / "fathom")]
    variables = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    if asked.demo is not None:
        variables["TIEBREAK_DEMO"] = str(asked.demo.resolve())
    module = ["-m", "fathom_env.server.app", "--host", asked.host, "--port", str(asked.port)]
    os.execve(python, [str(python), *module], variables)


def check_python(python: Path) -> None:
    """Refuse a Python that cannot be run or does not have the server's packages. Raises ConfigError."""
    try:
        done = subprocess.run([python, "-c", "import openenv"], stdin=subprocess.DEVNULL, capture_output=True)
    except OSError as error:
        raise ConfigError(f"{python} cannot be run ({error.strerror}); name another with --python") from None
    if done.returncode != 0:
        raise ConfigError(f"{python} has no openenv; install requirements/openenv.txt there, or leave --python out")


def keep(path: Path, demo: Path | None, scripted: bool) -> int:
    """Write episodes to a file."""
    from tiebreak.domains.fathom import recorded
    from tiebreak.domains.fathom import scripted as script
    from tiebreak.provenance import git_state

    shown = script.episodes(git_state(ROOT)) if scripted else recorded.load(demo)
    recorded.save(path, shown)
    print(f"{path}: {len(shown['episodes'])} episodes")
    return 0


def environment(venv: Path) -> Path:
    """The Python of the server's environment, made first if it is missing or its lock is another one."""
    lock, stamp, python = ROOT / "requirements" / "openenv.txt", venv / "stamp", venv / "bin" / "python"
    wanted = file_digest(lock)
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return python
    print(f"tiebreak: making {venv.name} from {lock.relative_to(ROOT)}", file=sys.stderr, flush=True)
    base = getattr(sys, "_base_executable", sys.executable)
    pip = ["-I", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes", "--no-deps"]
    for command in ([base, "-I", "-m", "venv", "--clear", str(venv)], [str(python), *pip, "-r", str(lock)]):
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode != 0:
            last = (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
            raise ConfigError(f"{venv.name} cannot be made: {last}; or name a Python that has the lock with --python")
    stamp.write_text(wanted, encoding="utf-8")
    return python
