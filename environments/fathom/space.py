"""Fill a folder with what a Space of the fathom environment holds: `python environments/fathom/space.py FOLDER`.

It has the repository's layout, with the card and the Dockerfile at its top. Nothing is uploaded.
"""

import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("requirements/openenv.txt", "src/tiebreak", "resources/words", "resources/fathom", "environments/fathom")
TOP = ("README.md", "Dockerfile")


def fill(folder: Path) -> None:
    """Copy the parts. FileExistsError for a folder that holds something."""
    if folder.exists() and any(folder.iterdir()):
        raise FileExistsError(f"{folder} is not empty; name a new folder")
    for part in PARTS:
        source, target = ROOT / part, folder / part
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            shutil.copy(source, target)
    for name in TOP:
        shutil.copy(ROOT / "environments" / "fathom" / name, folder / name)


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit("usage: python environments/fathom/space.py FOLDER")
    try:
        fill(Path(sys.argv[1]))
    except OSError as error:
        sys.exit(f"space.py: {error}")
