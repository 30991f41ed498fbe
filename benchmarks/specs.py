"""Specs materialized: ours, confined, against plain cargo, one spec after the other in fresh copies, in one run.

    ./dev python benchmarks/specs.py [FILE.jsonl] [--json OUT]

FILE holds model replies (`custom_id`, `text`), as `tiebreak blueprints check` takes them; without one, 200 generated
specs. Plain cargo works as the published materializer did: each spec in a folder of its own, its steps in order, until
one has another status than planned. Ours starts with an empty cache, and also examines each spec's reference fix, which
the other side does not. Both work in memory. The outcomes must agree. Takes about two minutes.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm
from verdict_figures import cpu
from verdict_rivals import plain_output, size_of

from tiebreak.domains.rust import scratch
from tiebreak.domains.rust.blueprints import CARGO_TOOLS, Blueprint, Step
from tiebreak.domains.rust.generator import generate
from tiebreak.domains.rust.imports.rows import Row, read_rows
from tiebreak.errors import BlueprintError

GENERATED = 200


def failing_step(blueprint: Blueprint, folder: Path) -> int | None:
    """The first step of a plan that plain cargo does not bear out, counted from 1; None where all are."""
    files = dict(blueprint.files)
    for number, step in enumerate(blueprint.steps, 1):
        if step.tool in CARGO_TOOLS:
            if status(blueprint, step, files, folder) != step.expect_status:
                return number
        elif step.tool == "apply_patch":
            assert step.file_path is not None and step.find is not None and step.replace is not None
            if files[step.file_path].count(step.find) != 1:
                return number
            files[step.file_path] = files[step.file_path].replace(step.find, step.replace)
    return None


def status(blueprint: Blueprint, step: Step, files: dict[str, str], folder: Path) -> str:
    """What plain cargo comes to in the spec's folder."""
    code, output = plain_output(step.tool, files, folder)
    wanted = blueprint.expected_output
    said = wanted is None or output.strip() == wanted.strip()
    return "success" if code == 0 and said else "failed"


def plain_side(rows: Sequence[Row], home: Path) -> dict[str, int | None]:
    """The step that fails of each spec, 0 for one that cannot be read."""
    found: dict[str, int | None] = {}
    for number, row in enumerate(tqdm(rows, desc="plain cargo", unit="spec", mininterval=1)):
        try:
            found[row.name] = failing_step(row.blueprint(), home / f"spec{number}")
        except BlueprintError:
            found[row.name] = 0
    return found


def our_side(path: Path) -> dict[str, int | None]:
    """The same by the command that people use, in a process of its own, with an empty cache."""
    command = [sys.executable, "-m", "tiebreak.cli", "blueprints", "check", str(path), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    return {item["custom_id"]: item["step"] for item in found}


def scratch_folders() -> set[Path]:
    """What our side keeps in memory while it works."""
    return set(scratch.home().glob(f"{scratch.PREFIX}*"))


def generated(folder: Path) -> Path:
    """A file of generated specs."""
    path = folder / "generated.jsonl"
    lines = [json.dumps(item.model_dump(mode="json")) for item in generate("all", GENERATED, 0)]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def measure(path: Path | None, home: Path) -> dict[str, Any]:
    """Seconds of both sides, what they leave behind, and where they disagree."""
    path = path or generated(home)
    rows, before = read_rows(path), scratch_folders()
    start = time.perf_counter()
    ours = our_side(path)
    middle = time.perf_counter()
    left = sum(map(size_of, scratch_folders() - before))
    plain = plain_side(rows, home / "plain")
    end = time.perf_counter()
    return {
        "specs": len(rows),
        "accepted": sum(step is None for step in ours.values()),
        "disagree": sorted(name for name in ours if ours[name] != plain[name]),
        "ours": middle - start,
        "plain": end - middle,
        "left_bytes": left,
        "plain_left_bytes": size_of(home / "plain"),
        "cpu": cpu(),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path, help="specs; without it, generated ones")
    parser.add_argument("--json", type=Path, help="also write the figures there")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=scratch.home()) as home:
        found = measure(arguments.file, Path(home))
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(
        f"{found['specs']} specs, {found['accepted']} accepted, {len(found['disagree'])} outcomes differ: "
        f"ours {found['ours']:.1f} s, plain {found['plain']:.1f} s, {found['plain'] / found['ours']:.1f} times\n"
        f"left behind: ours {found['left_bytes']} bytes, plain {found['plain_left_bytes'] / 1e9:.2f} GB"
    )
    if found["disagree"]:
        print("outcomes differ: " + ", ".join(found["disagree"]))


if __name__ == "__main__":
    main()
