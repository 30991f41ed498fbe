"""What verifying a large release takes, without playing rollouts again: wall time, CPU time and memory.

    ./dev python benchmarks/verify.py [--keep]

The study is made up (`large_study.py`): 10 runs, 6 repetitions, 150 cases and 8 samples are 72,000 rollouts, no two of
them alike; its records, statistics, audits and page are real. `tiebreak verify --regrade none` runs in a process of its
own, whose peak memory is read. For scale, another process reads the same tables once with pyarrow, rows as Python
objects, no more.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from keeping import keep
from large_study import Large

from tiebreak.publish.card import card
from tiebreak.publish.release import build
from tiebreak.publish.verify import Options, verify


def verified(release: Path) -> dict[str, Any]:
    """Every verdict counted, and the first that fails."""
    found = list(verify(release, Options(regrade=0)))
    failed = [verdict.detail for verdict in found if verdict.fails]
    return {"verdicts": len(found), "failed": failed[:1], "bit_exact": sum(v.state == "bit-exact" for v in found)}


def read(release: Path) -> dict[str, Any]:
    """The rollouts, read and dropped."""
    paths = sorted(release.glob("results/evals/*/*/rollouts.parquet"))
    return {"rows": sum(len(pq.read_table(path).to_pylist()) for path in paths)}


def one_side(side: str, release: Path) -> None:
    """Do one side in this process, and print what it took."""
    started = time.perf_counter()
    found = {"verify": verified, "read": read}[side](release)
    used = resource.getrusage(resource.RUSAGE_SELF)
    took = {"seconds": time.perf_counter() - started, "cpu_seconds": used.ru_utime + used.ru_stime}
    print(json.dumps(found | took | {"peak_bytes": used.ru_maxrss * 1024}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", action="store_true", help="keep the figures for README (docs/benchmarks)")
    parser.add_argument("--side", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        return one_side(options.side[0], Path(options.side[1]))
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        large = Large(Path(name))
        release = build(large.make(), large.study, card).resolve()
        runs, study = len(large.study.runs), large.study
        rollouts = runs * len(study.repetitions) * study.data.splits.holdout * study.evaluation.k
        found: dict[str, Any] = {"runs": runs, "rollouts": rollouts}
        found["release_bytes"] = sum(path.stat().st_size for path in release.rglob("*") if path.is_file())
        for side in ("verify", "read"):
            own = [sys.executable, str(here / "benchmarks/verify.py"), "--side", side, str(release)]
            command = ["sh", "-c", '"$@"; exit $?', "sh", *own]  # else its peak would begin with this process's own
            done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=here)
            found[side] = json.loads(done.stdout.splitlines()[-1])
            print(side, found[side], flush=True)
        if failed := found["verify"].pop("failed"):
            sys.exit(f"the release does not verify, so its time says nothing: {failed[0]}")
    if options.keep:
        keep("verify", found)


if __name__ == "__main__":
    main()
