"""The near-duplicate audit on very many generated cases, against the exact comparison of all pairs.

    ./dev python benchmarks/duplicates.py [--cases N] [--held CASES]

Sources are generated first, off the clock. Each size (N/4, N/2, N) is then audited in a process of its own: sources
read, index built, every two splits measured against each other, as rule `leakage` does; printed are the seconds of the
audit (without reading), and the peak memory of that process with all sources in it. Pool and holdout have as many cases
at every size, as in a study that learns from more; linear means that the seconds for each thousand cases stay where
they are. A last line has pool and holdout grow too, to a twentieth of N each: there, pairs that are alike grow with the
square, and so does the part of the work that looks at them.

The alternative is what one would write without an index: the same measure on sets, for every held-out case against
every other one. It is timed on a subset, where its findings and ours are compared, and extrapolated with the number of
pairs.
"""

import argparse
import json
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from tiebreak.audits.crossings import crossings
from tiebreak.audits.near import Index
from tiebreak.audits.shingles import WIDTH, words
from tiebreak.domains.rust.generator import generate, whole_code
from tiebreak.domains.rust.shared_code import forms

SEED, THRESHOLD, SUBSET = 20261129, 0.92, 2000
Sources = dict[str, Mapping[str, str]]


def make(path: Path, cases: int) -> None:
    """Write the sources of generated cases, one a line."""
    with path.open("w", encoding="utf-8") as file:
        for case in generate("all", cases, SEED, keys=whole_code):
            file.write(json.dumps([case.case_id, forms(case)]) + "\n")


def read(path: Path, cases: int) -> Sources:
    """The sources of the first cases."""
    with path.open(encoding="utf-8") as file:
        return dict(json.loads(line) for line in islice(file, cases))


def divided(names: list[str], held: int) -> dict[str, list[str]]:
    """Splits by place: `held` cases each for holdout and pool, the rest for SFT."""
    return {"holdout": names[:held], "pool": names[held : 2 * held], "sft": names[2 * held :]}


def audit(path: Path, cases: int, held: int) -> dict[str, Any]:
    """Seconds and peak memory of one audit, and what it found."""
    sources = read(path, cases)
    splits = divided(list(sources), held)
    started = time.perf_counter()
    index = Index(sources.items())
    indexed = time.perf_counter()
    found = crossings(index, splits, THRESHOLD, lambda case, form: sources[case][form])
    return {
        "cases": cases,
        "held": held,
        "different": index.matrix.shape[0],
        "seconds": time.perf_counter() - started,
        "of_index": indexed - started,
        "gib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20),
        "over": {f"{one.split} near {one.against}": f"{one.over} of {one.cases}" for one in found},
    }


def alone(function: Any, *arguments: Any) -> Any:
    """The function's result from a fresh process, so that memory is its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, arguments)


def shingle_sets(sources: Mapping[str, str]) -> Iterator[set[tuple[str, ...]]]:
    """The shingles of each form, as the definition has them."""
    for source in sources.values():
        tokens = words(source)
        yield {tuple(tokens[at : at + WIDTH]) for at in range(max(1, len(tokens) - WIDTH + 1))}


def all_pairs(sources: Sources, queries: list[str], targets: list[str]) -> tuple[float, set[str]]:
    """(seconds, the queries with a target over the threshold) without an index."""
    started = time.perf_counter()
    sets = {case: list(shingle_sets(sources[case])) for case in [*queries, *targets]}
    over = set()
    for query in queries:
        best = max(len(a & b) / len(a | b) for a in sets[query] for other in targets for b in sets[other])
        if best > THRESHOLD:
            over.add(query)
    return time.perf_counter() - started, over


def compare(path: Path) -> tuple[float, int]:
    """(seconds of all pairs, number of pairs) on a subset. Asserts that the search finds the same cases."""
    sources = read(path, SUBSET)
    splits = divided(list(sources), SUBSET // 20)
    seconds, over = all_pairs(sources, splits["holdout"], splits["sft"])
    ours = Index(sources.items(), all_pairs=0).over(splits["holdout"], splits["sft"], THRESHOLD)
    assert ours == over, f"all pairs find {sorted(over - ours)[:3]} more, ours {sorted(ours - over)[:3]}"
    return seconds, len(splits["holdout"]) * len(splits["sft"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", default=100_000, type=int, help="the largest size")
    parser.add_argument("--held", default=1000, type=int, help="cases in the pool, and in the holdout")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sources.jsonl"
        alone(make, path, options.cases)
        rows = [alone(audit, path, options.cases // part, options.held) for part in (4, 2, 1)]
        rows.append(alone(audit, path, options.cases, options.cases // 20))
        seconds, pairs = alone(compare, path)
    for row in rows:
        print(
            f"{row['cases']:>9,} cases ({row['different']:,} different texts), {row['held']:,} held out: "
            f"{row['seconds']:6.1f} s, "
            f"{1000 * row['seconds'] / row['cases']:.3f} s a thousand ({row['of_index']:.1f} s index), "
            f"{row['gib']:.2f} GiB; over {THRESHOLD}: {row['over']}"
        )
    there = options.held * (options.cases - 2 * options.held)
    print(
        f"all pairs: {seconds:.1f} s for {pairs:,}; extrapolated to {there:,} for {options.held:,} held out: "
        f"{seconds / pairs * there / 3600:.1f} h; the same cases over {THRESHOLD} on the subset"
    )


if __name__ == "__main__":
    main()
