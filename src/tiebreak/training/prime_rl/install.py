"""prime-rl at the study's commit, in an environment of its own that its own lock describes (Python 3.12, by uv).

Never run here, as there is no GPU to use it on: the commands are checked, what they do is not.
"""

import json
import shutil
from pathlib import Path

from tiebreak.digest import file_digest
from tiebreak.errors import TrainingError
from tiebreak.installing import execute

SOURCE = "https://github.com/PrimeIntellect-ai/prime-rl"
SUBMODULES = ("deps/verifiers", "deps/renderers", "deps/research-environments")
HTTPS = "url.https://github.com/.insteadOf=git@github.com:"
ENVIRONMENTS = ("environments/glyph",)
NEEDED = {"git": "install git", "uv": "install uv, which makes prime-rl's environment from its lock (pip install uv)"}


def commands(tool: Path, commit: str, root: Path) -> list[list[str]]:
    """What is run, in order: the checkout with its submodules, its locked environment, our library and environments.

    root: the folder of this project. The library has no dependency of its own in its metadata; what it needs beside
    prime-rl's packages is named.
    """
    python = str(tool / ".venv" / "bin" / "python")
    ours = [argument for path in (".", *ENVIRONMENTS) for argument in ("--editable", str(root / path))]
    return [
        ["git", "clone", "--quiet", "--no-checkout", SOURCE, str(tool)],
        ["git", "-C", str(tool), "checkout", "--quiet", "--detach", commit],
        ["git", "-c", HTTPS, "-C", str(tool), "submodule", "update", "--init", "--quiet", *SUBMODULES],
        ["uv", "sync", "--directory", str(tool), "--python", "3.12", "--frozen", "--no-dev", "--extra", "flash-attn"],
        ["uv", "pip", "install", "--python", python, "zstandard", "pyyaml", "tqdm"],
        ["uv", "pip", "install", "--python", python, "--no-deps", *ours],
        [str(tool / ".venv" / "bin" / "rl"), "--help"],
    ]


def install(tool: Path, commit: str, root: Path, stamp: Path) -> None:
    """Install prime-rl into the folder `tool`, and write its commit and the digest of its lock to `stamp`.

    Raises TrainingError with what failed.
    """
    for program, mend in NEEDED.items():
        if shutil.which(program) is None:
            raise TrainingError(f"{program} is not on PATH, and prime-rl's installation needs it; {mend}")
    shutil.rmtree(tool, ignore_errors=True)
    tool.parent.mkdir(parents=True, exist_ok=True)
    for command in commands(tool, commit, root):
        execute(command, TrainingError)
    said = {"commit": commit, "lock": file_digest(tool / "uv.lock")}
    stamp.write_text(json.dumps(said, indent=1, sort_keys=True) + "\n", encoding="utf-8")
