"""The report of a large study, against the page that one writes down first: all rollouts inside it.

    ./dev python benchmarks/report.py [--results results] [--study laptop] [--keep]

The study is made up: 12 runs (sft, and the arms with several seeds), 5 repetitions, 150 cases and 8 samples, its
rollouts taken in turn from a finished study's (`--results`), or drawn where there is none, under new names and seeds.
The analysis and the report, viewer included, are made by a process of its own, whose peak memory is read; then
Chromium, where it is there, opens what was made (its own start, as for an empty page, is in those seconds). Takes two
minutes.
"""

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from keeping import keep

from tiebreak.domains.rust.domain import FACTS
from tiebreak.domains.rust.rewards import PUBLISHED_TABLES
from tiebreak.domains.rust.stored import stored_terms
from tiebreak.paths import RESULTS, parse_run
from tiebreak.report.page import build
from tiebreak.report.rollouts import Stored
from tiebreak.report.viewer import FOLDER, write_page
from tiebreak.report.viewer_data import Index, write_data
from tiebreak.seeds import derive, stream
from tiebreak.stats.analysis import analyse
from tiebreak.stats.counts import counts
from tiebreak.tables import read_table, rollouts, write_table

SEEDS = {"sparse": 4, "dense": 4, "compiler": 3}
RUNS = ["sft", *(f"{arm}-seed{seed}" for arm, count in SEEDS.items() for seed in range(count))]
REPETITIONS, CASES, SAMPLES = 5, 150, 8
OPENINGS, LONGEST = 3, 60
Row = dict[str, Any]


def drawn() -> list[Row]:
    """Rollouts without any study: a thousand of a common length, some graded."""
    rng = stream(1, "benchmark", "report")
    rows = []
    for number in range(1024):
        text = "".join(rng.choice("abcdefgh (){};\n") for _ in range(400))
        call = json.dumps({"id": "c1", "file_path": "src/lib.rs", "find": text[:40], "replace": text[40:80]})
        said = [
            ("user", text),
            ("assistant", f"CALL apply_patch {call}"),
            ("tool", f"RESULT c1:\nstatus: failed\n{text}"),
        ]
        said += [("assistant", "CALL cargo_test {}"), ("tool", text), ("assistant", "FINAL: done")]
        turns = [
            {"role": r, "content": c, "tokens": 20 if r == "assistant" else None, "sampling_seed": None}
            for r, c in said
        ]
        solved = rng.random() < 0.3
        facts = {"compiled": True, "phase": 4, "tests_passed": 1, "tests_total": 2, "tampered": [], "calls": []}
        outcome = {"stop": "final", "valid": solved, "success": solved, "graded": solved, "truncated": False}
        labels = {"family": "patch_test_pass", "difficulty": "easy", "template": f"template_{number % 24}"}
        rows.append({"turns": turns, "facts": facts, "new_tokens": 60, **outcome, **labels})
    return rows


def stored(folder: Path) -> list[Row]:
    """The rollouts of one evaluation of a finished study; none where there is no such study."""
    paths = sorted(folder.glob("evals/*/rep0/rollouts.parquet"))
    return read_table(paths[0]).to_pylist() if paths else []


def renamed(source: list[Row], run: str, repetition: int) -> Iterator[Row]:
    """The rollouts of one evaluation of the made-up study: a case's come from its own place in the source."""
    arm, seed = parse_run(run)
    shift = derive(1, run, repetition) % 3
    for case in range(CASES):
        for sample in range(SAMPLES):
            row = source[(case * SAMPLES + sample * (1 + shift)) % len(source)]
            first = {"sampling_seed": derive(1, "eval", repetition, case, sample)}
            turns = [turn | (first if turn["role"] == "assistant" else {}) for turn in row["turns"]]
            own = {"case_id": f"case_{case:03d}", "template": f"template_{case % 24}", "family": f"family_{case % 6}"}
            place = {"arm": arm, "training_seed": seed, "repetition": repetition, "sample": sample, "root_seed": 1}
            yield row | own | place | {"turns": turns, "rewards": []}


def make(source: list[Row], folder: Path) -> None:
    """Write every table of the study."""
    for run in RUNS:
        for repetition in range(REPETITIONS):
            path = folder / "evals" / run / f"rep{repetition}" / "rollouts.parquet"
            write_table(path, renamed(source, run, repetition), rollouts(FACTS))


def terms(stored: Stored) -> Mapping[str, Mapping[str, float]]:
    """The terms of a rollout's reward under the published shapes."""
    return stored_terms(stored.turns, stored.row["stop"], stored.row["facts"], PUBLISHED_TABLES)


def analysed(paths: list[Path]) -> tuple[Any, dict[str, Any]]:
    """The counts and the analysis, as the workflow makes them."""
    table = counts(paths)
    return table, analyse(table, alpha=0.05, cluster="template", k=SAMPLES, seed=1, arms=list(SEEDS))


def ours(folder: Path) -> None:
    """The analysis, the viewer and the page."""
    paths, out = sorted(folder.glob("evals/*/*/rollouts.parquet")), folder / "ours"
    table, analysis = analysed(paths)
    index = write_data(paths, terms, out / FOLDER, "large")
    write_page(out, "large")
    build(analysis, {}, [], {}, {"study": "large"}, out, counts=table, rollouts=index)


def naive(folder: Path) -> None:
    """The same analysis and page, with every rollout and its terms as JSON inside it."""
    paths, out = sorted(folder.glob("evals/*/*/rollouts.parquet")), folder / "naive"
    table, analysis = analysed(paths)
    rows = [row | {"terms": terms_of(row)} for path in paths for row in read_table(path).to_pylist()]
    text = json.dumps(rows, ensure_ascii=False).replace("<", "\\u003c")
    page = build(analysis, {}, [], {}, {"study": "large"}, out, counts=table, rollouts=Index("large"))
    script = f"<script>const rollouts = {text}; document.title = rollouts.length;</script></body>"
    page.write_text(page.read_text(encoding="utf-8").replace("</body>", script), encoding="utf-8")


def terms_of(row: Row) -> Mapping[str, Mapping[str, float]]:
    """The same for a row of a table."""
    return stored_terms(row["turns"], row["stop"], row["facts"], PUBLISHED_TABLES)


def measured(side: str, folder: Path) -> dict[str, float]:
    """Wall seconds, CPU seconds and peak bytes of one side, made by a process of its own."""
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, __file__, "--side", side, str(folder)], capture_output=True, text=True, check=True
    )
    return {"seconds": time.perf_counter() - started, **json.loads(done.stdout.splitlines()[-1])}


def one_side(side: str, folder: Path) -> None:
    """Make one side in this process, and print what it took."""
    makers: dict[str, Callable[[Path], None]] = {"ours": ours, "naive": naive}
    makers[side](folder)
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({"cpu_seconds": used.ru_utime + used.ru_stime, "peak_bytes": used.ru_maxrss * 1024}))


def opens(page: Path, folder: Path) -> float | None:
    """Seconds from the start of Chromium to its end, the page drawn; the fastest of a few, None where over LONGEST."""
    chromium = shutil.which("chromium") or "chromium-browser"
    command = [chromium, "--headless", "--disable-gpu", "--no-sandbox", f"--user-data-dir={folder / 'profile'}"]
    command += ["--virtual-time-budget=20000"]  # until the page has nothing left to do
    seconds = []
    for _ in range(OPENINGS):
        started = time.perf_counter()
        try:
            shot = f"--screenshot={folder / 'shot.png'}"
            subprocess.run([*command, shot, page.as_uri()], capture_output=True, check=True, timeout=LONGEST)
        except subprocess.TimeoutExpired:
            return None
        seconds.append(time.perf_counter() - started)
    return min(seconds)


def opened(folder: Path) -> dict[str, float | None]:
    """Seconds that each page takes, an empty one first; None where one did not open in time."""
    empty = folder / "empty.html"
    empty.write_text("<!DOCTYPE html><title>empty</title>", encoding="utf-8")
    pages = {
        "empty": "empty.html",
        "ours": "ours/index.html",
        "viewer": "ours/viewer.html",
        "naive": "naive/index.html",
    }
    return {name: opens(folder / page, folder) for name, page in pages.items()}


def show(side: str, row: dict[str, Any]) -> None:
    """The figures of a side as a person reads them."""
    print(
        f"{side:6s} {row['seconds']:6.1f} s ({row['cpu_seconds']:.1f} s of CPU)  {row['peak_bytes'] / 2**20:6.0f} MiB"
        f"  page {row['page_bytes'] / 1e6:7.2f} MB, {row['all_bytes'] / 1e6:7.1f} MB in all",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--study", default="laptop", help="a finished study to take rollouts from")
    parser.add_argument("--results", default=RESULTS, type=Path, help="where its results are, if there are any")
    parser.add_argument("--keep", action="store_true", help="keep the figures for README (docs/benchmarks)")
    parser.add_argument("--side", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        return one_side(options.side[0], Path(options.side[1]))
    source = stored(options.results / options.study)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make(source or drawn(), folder)
        found: dict[str, Any] = {"runs": len(RUNS), "rollouts": len(RUNS) * REPETITIONS * CASES * SAMPLES}
        found["source"] = f"the rollouts of {options.study}" if source else "drawn text"
        print(f"{found['rollouts']:,} rollouts of {found['runs']} runs, from {found['source']}", flush=True)
        for side in ("ours", "naive"):
            made = folder / side
            found[side] = measured(side, folder)
            found[side]["page_bytes"] = (made / "index.html").stat().st_size
            found[side]["all_bytes"] = sum(path.stat().st_size for path in made.rglob("*") if path.is_file())
            show(side, found[side])
        found["opens"] = opened(folder) if shutil.which("chromium") else {}
    for name, seconds in found["opens"].items():
        print(f"opens {name}: " + (f"not in {LONGEST} s" if seconds is None else f"{seconds:.2f} s"))
    if options.keep:
        keep("report", found)


if __name__ == "__main__":
    main()
