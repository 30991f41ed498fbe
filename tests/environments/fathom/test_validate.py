"""OpenEnv's own validation of the package and of the running server."""

import subprocess
import sys
from pathlib import Path

from environments.fathom.serving import ROOT, Server

OPENENV = Path(sys.executable).with_name("openenv")


def validate(*arguments: str) -> str:
    folder = ROOT / "environments" / "fathom"
    done = subprocess.run([OPENENV, "validate", *arguments], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_package() -> None:
    assert "Verdict: PASS" in validate(".", "--level", "static")


def test_the_running_server(server: Server) -> None:
    told = validate("--url", server.url, "--timeout", "60")
    assert "Verdict: PASS" in told and "FAIL" not in told
    assert told.count("PASS ") == 6
