"""Copies of the repository in which the real Snakemake runs, and the minute study run in one of them, once."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COPIED = ("Snakefile", "rules", "scripts", "config", "profiles", "resources", "src", "requirements", "pyproject.toml")
MINUTE = ("--config", "study=config/test/minute.yaml")
CORES = str(len(os.sched_getaffinity(0)))


@dataclass
class Checkout:
    """A copy of the repository."""

    folder: Path

    @property
    def results(self) -> Path:
        """The results of the minute study."""
        return self.folder / "results" / "minute"

    def command(self, *arguments: str, path: str | None = None) -> dict[str, object]:
        """The arguments of `subprocess` for a Snakemake in this copy; `path` takes the place of PATH."""
        own = str(Path(sys.executable).parent) + os.pathsep + os.environ["PATH"]
        environment = os.environ | {"PYTHONPATH": str(self.folder / "src"), "PATH": own if path is None else path}
        command = [sys.executable, "-m", "snakemake", *arguments]
        return {"args": command, "cwd": self.folder, "env": environment, "text": True}

    def snakemake(self, *arguments: str, path: str | None = None) -> subprocess.CompletedProcess[str]:
        """Run Snakemake to its end."""
        return subprocess.run(**self.command(*arguments, path=path), capture_output=True, timeout=600)

    def minute(self, *targets: str) -> subprocess.CompletedProcess[str]:
        """Run the minute study up to these targets."""
        return self.snakemake("--cores", CORES, *targets, *MINUTE)

    def jobs(self, *arguments: str) -> dict[str, int]:
        """How often each rule would run; target rules, which do nothing, are left out."""
        done = self.snakemake("-n", *arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        return counted(done)

    def edit(self, name: str, old: str, new: str) -> None:
        """Replace the first `old` in a file."""
        path = self.folder / name
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    def append(self, name: str, text: str) -> None:
        """Add text to the end of a file."""
        with (self.folder / name).open("a", encoding="utf-8") as file:
            file.write(text)

    def pretend_finished(self) -> None:
        """Make every output of the default study, empty, and let Snakemake take them for finished."""
        plan = self.snakemake("-n")
        outputs = re.findall(r"^    output: (.*)$", plan.stdout + plan.stderr, re.MULTILINE)
        for path in (self.folder / name for line in outputs for name in line.split(", ")):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch() if path.suffix else path.mkdir()
        done = self.snakemake("--touch", "--forceall", "--no-hooks", "--cores", "1")
        assert done.returncode == 0, done.stdout + done.stderr

    def copy_to(self, folder: Path) -> "Checkout":
        """The same copy again, results and Snakemake's memory of them included."""
        shutil.copytree(self.folder, folder, symlinks=True)
        return Checkout(folder)


def counted(done: subprocess.CompletedProcess[str]) -> dict[str, int]:
    """The jobs in Snakemake's table of them, without the target rules."""
    table = (done.stdout + done.stderr).partition("Job stats:")[2].partition("total")[0]
    counts = {name: int(count) for name, count in re.findall(r"^(\w+) +(\d+)$", table, re.MULTILINE)}
    return {name: count for name, count in counts.items() if name not in ("all", "data", "evals")}


def copy(folder: Path) -> Checkout:
    """A copy of the repository in which nothing has run."""
    ignore = shutil.ignore_patterns("__pycache__")
    for name in [*COPIED, "flake.lock"]:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=ignore)
        elif source.exists():
            shutil.copy2(source, folder / name)
    return Checkout(folder)


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A copy in which nothing has run; not to be changed."""
    return copy(tmp_path_factory.mktemp("fresh"))


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A copy in which the minute study has its data and its base model, gates passed; not to be changed."""
    checkout = copy(tmp_path_factory.mktemp("prepared"))
    done = checkout.minute("data", "base")
    assert done.returncode == 0, done.stdout + done.stderr
    return checkout


@pytest.fixture(scope="session")
def minute(prepared: Checkout, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A copy in which the minute study has run to its report; not to be changed."""
    checkout = prepared.copy_to(tmp_path_factory.mktemp("minute") / "main")
    done = checkout.minute()
    assert done.returncode == 0, done.stdout + done.stderr
    return checkout


@pytest.fixture
def branch(tmp_path: Path) -> Callable[[Checkout], Checkout]:
    """Makes a copy of a copy, to be changed."""

    def made(checkout: Checkout) -> Checkout:
        return checkout.copy_to(tmp_path / "branch")

    return made
