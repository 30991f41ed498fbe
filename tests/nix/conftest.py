"""The flake, or a copy of it to break, evaluated by a real Nix without a network, against a stub of nixpkgs."""

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
STUB = Path(__file__).parent / "stub"
PARTS = ("flake.nix", "flake.lock", "nix", "pyproject.toml")


@dataclass
class Flake:
    """A copy of the flake in `folder`, and a store of its own for what Nix keeps."""

    folder: Path
    store: Path

    def edit(self, name: str, old: str, new: str) -> None:
        """Replace every `old` in a file."""
        text = (self.folder / name).read_text()
        assert old in text
        (self.folder / name).write_text(text.replace(old, new))

    def nix(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a Nix that fetches nothing and touches no file outside its store."""
        places = {name: str(self.store / name) for name in ("NIX_STORE_DIR", "NIX_STATE_DIR", "NIX_LOG_DIR")}
        own = places | {"NIX_CONF_DIR": str(self.store / "conf"), "HOME": str(self.store / "home")}
        options = ["--offline", "--extra-experimental-features", "nix-command flakes"]
        return subprocess.run(["nix", *options, *command], env=os.environ | own, capture_output=True, text=True)

    def evaluated(self, *command: str, output: str = "") -> subprocess.CompletedProcess[str]:
        """Run a Nix command on the flake, or on one of its outputs, the stub in the place of nixpkgs."""
        stub = ["--override-input", "nixpkgs", f"path:{STUB}", "--no-write-lock-file"]
        return self.nix(*command, f"path:{self.folder}{output and '#'}{output}", *stub)

    def check(self) -> subprocess.CompletedProcess[str]:
        """Evaluate every output; what `nix flake show` prints, or what failed.

        `nix flake check` alone looks neither at what an app runs nor at the formatter.
        """
        for command in (("flake", "check", "--no-build"), ("eval", "--json")):
            done = self.evaluated(*command, output="" if command[0] == "flake" else "apps")
            if done.returncode:
                return done
        return self.evaluated("flake", "show", "--json")

    def value(self, output: str) -> Any:
        """The value of an output."""
        done = self.evaluated("eval", "--json", output=output)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@pytest.fixture
def flake(tmp_path: Path) -> Flake:
    """A copy of the flake."""
    if shutil.which("nix") is None:
        pytest.skip("needs Nix (Debian: apt-get install nix-bin)")
    copy = Flake(tmp_path / "flake", tmp_path / "store")
    copy.folder.mkdir()
    (copy.store / "home").mkdir(parents=True)
    for name in PARTS:
        source = ROOT / name
        shutil.copytree(source, copy.folder / name) if source.is_dir() else shutil.copy(source, copy.folder)
    return copy
