"""Benchmarks are run by hand; that they still find what they import is seen here."""

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "benchmarks"


def test_every_benchmark_can_be_imported() -> None:
    names = sorted(path.stem for path in FOLDER.glob("*.py"))
    done = subprocess.run(
        [sys.executable, "-c", f"import {', '.join(names)}"], cwd=FOLDER, capture_output=True, text=True
    )
    assert len(names) > 10 and done.returncode == 0, done.stderr
