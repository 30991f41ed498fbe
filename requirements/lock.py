"""Write `project.txt`, the hash-locked closure of `project.in`: `python requirements/lock.py` (needs `uv` on PATH).

What the lock holds already keeps its version; remove its lines, or the file, to let it move.

The lock names no index: pip asks the one that its machine is configured for. torch is the CPU build (`+cpu`), from a
folder of wheels that PIP_FIND_LINKS names. The registry's builds must not stand beside it: pip prefers a file whose
hash the index already told it, and would take the CUDA build, without the libraries that that build needs.
"""

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
HEADER = "# The hash-locked closure of project.in; remake with `python requirements/lock.py`.\n"


def main() -> None:
    """Compile the lock and write it."""
    wheels = os.environ.get("PIP_FIND_LINKS")
    if not wheels:
        sys.exit("requirements/lock.py: PIP_FIND_LINKS must name a folder that holds the CPU wheel of torch")
    command = [
        "uv",
        "pip",
        "compile",
        str(HERE / "project.in"),
        "--generate-hashes",
        "--no-emit-index-url",
        "--no-header",
    ]
    lock = HERE / "project.txt"
    command += ["--quiet", "--no-annotate", "--python-version", "3.11", "--find-links", wheels, "-o", str(lock)]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    lock.write_text(HEADER + lock.read_text())


if __name__ == "__main__":
    main()
