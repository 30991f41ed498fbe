"""A copy of `./dev` with a lock of one tiny local wheel and a build backend that tests can hold up."""

import base64
import hashlib
import os
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

REPO = Path(__file__).resolve().parents[1]
BACKEND = """
import os, pathlib, time, zipfile

def build_editable(folder, config_settings=None, metadata_directory=None):
    root = pathlib.Path.cwd()
    with open(root / "builds", "a") as file:
        file.write("x")
    while (root / "hold").exists():
        time.sleep(0.02)
    name = "tiebreak-1-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(folder, name), "w") as wheel:
        wheel.writestr("tiebreak.pth", str(root / "src"))
        wheel.writestr("tiebreak-1.dist-info/METADATA", "Metadata-Version: 2.1\\nName: tiebreak\\nVersion: 1\\n")
        wheel.writestr("tiebreak-1.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any")
        wheel.writestr("tiebreak-1.dist-info/RECORD", "")
    return name
"""
PROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]

[tool.tiebreak]
python = "3.11" # and newer
rust = "1.95"
oldest_rust = "1.56"
"""


def make_wheel(folder: Path, name: str, module: str) -> str:
    """A wheel of one module in `folder`; returns its line in a lock."""
    path = folder / f"{name}-1.0-py3-none-any.whl"
    files = {
        f"{name}.py": module,
        f"{name}-1.0.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{name}-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    with zipfile.ZipFile(path, "w") as wheel:
        record = f"{name}-1.0.dist-info/RECORD"
        for inside, text in files.items():
            wheel.writestr(inside, text)
        hashes = {inside: hashlib.sha256(text.encode()).digest() for inside, text in files.items()}
        rows = [f"{inside},sha256={base64.urlsafe_b64encode(d).decode().rstrip('=')}," for inside, d in hashes.items()]
        wheel.writestr(record, "\n".join([*rows, f"{record},,"]) + "\n")
    return f"{name}==1.0 --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}\n"


class Checkout:
    """A checkout with `dev`, its sync and a tiny lock."""

    def __init__(self, root: Path) -> None:
        self.root, self.wheels = root, root / "wheels"
        (root / "requirements").mkdir(parents=True)
        self.wheels.mkdir()
        shutil.copy(REPO / "dev", root)
        shutil.copy(REPO / "requirements" / "sync.py", root / "requirements")
        (root / "backend.py").write_text(BACKEND)
        (root / "pyproject.toml").write_text(PROJECT)
        self.lock = root / "requirements" / "project.txt"
        self.lock.write_text(make_wheel(self.wheels, "tiny", "print('tiny runs')"))
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("PIP_", "TIEBREAK_"))}
        self.environment = kept | {
            "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": self.wheels.as_uri(), "PIP_CONFIG_FILE": os.devnull,
        }  # fmt: skip

    def start(self, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        """Start `./dev` in a process group of its own."""
        return subprocess.Popen(
            [self.root / "dev", *arguments], env=self.environment | environment, text=True, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def dev(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run `./dev` to its end."""
        process = self.start(*arguments, **environment)
        stdout, stderr = process.communicate(timeout=120)
        return subprocess.CompletedProcess(arguments, process.returncode, stdout, stderr)

    @property
    def builds(self) -> int:
        """How often the project was built."""
        path = self.root / "builds"
        return len(path.read_text()) if path.exists() else 0

    def tools_without(self, *absent: str) -> str:
        """A PATH that has what `dev` needs, python3.11 and no `absent` tools."""
        folder = self.root / "path"
        folder.mkdir()
        for name in {"sh", "cat", "dirname", "sha256sum", "true", "cargo", "cc", "bwrap"} - set(absent):
            (folder / name).symlink_to(shutil.which(name) or f"/missing/{name}")
        (folder / "python3.11").symlink_to(Path(sys._base_executable))
        return str(folder)


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.02)
