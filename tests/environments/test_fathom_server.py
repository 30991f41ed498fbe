"""The server of the fathom environment. It needs OpenEnv, which cannot stand beside our lock, in a Python of its own:

    ./dev pytest tests/environments --openenv=PYTHON

PYTHON has requirements/openenv.txt, as .venv-openenv/bin/python that `tiebreak serve` makes. The tests are those of
tests/environments/fathom, each with its own name there.
"""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_server(pytestconfig: pytest.Config) -> None:
    python = pytestconfig.getoption("--openenv")
    if python is None:
        pytest.skip("needs a Python that has requirements/openenv.txt: --openenv=PYTHON")
    command = [python, "-m", "pytest", "-q", "tests/environments/fathom"]
    paths = {"PYTHONPATH": f"{ROOT / 'src'}:{ROOT / 'environments' / 'fathom'}"}
    assert subprocess.run(command, cwd=ROOT, env=os.environ | paths).returncode == 0, "what failed stands above"


def pins(name: str) -> dict[str, str]:
    """The packages of a lock."""
    text = (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
    return dict(re.findall(r"^([\w.-]+)==([^ \\]+)", text, re.MULTILINE))


def test_what_both_locks_hold_has_one_version_but_for_pillow() -> None:
    ours, servers = pins("project"), pins("openenv")
    assert {name for name in ours.keys() & servers.keys() if ours[name] != servers[name]} == {"pillow"}


def test_the_servers_lock_names_no_index() -> None:
    text = (ROOT / "requirements" / "openenv.txt").read_text(encoding="utf-8")
    assert "://" not in text and len(re.findall(r"--hash=sha256:", text)) >= len(pins("openenv")) > 50
