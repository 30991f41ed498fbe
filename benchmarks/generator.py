"""Cases from a seed, generated and materialized, against plain cargo on the same crate states, in one run.

    ./dev python benchmarks/generator.py [--cases 1000] [--seed SEED] [--attempts 2]

Ours is all that makes a case: drawing it, its verdicts before and after each patch, confined, and the reference fix's
exam. Plain cargo gets the states alone (`cargo test` or `cargo run` in a fresh copy, unconfined, no exam), of a sample
of the same cases, in turns with ours, so that a machine that slows down slows both. Both use two workers. Rejects are
listed with their reasons. The breadth of each template stands below: of 400 cases drawn from it alone, how many are
pairwise no near duplicates (audits/breadth.py, at most 0.92 alike). Takes about three minutes.
"""

import argparse
import os
import tempfile
import time
from pathlib import Path

from tqdm import tqdm
from verdict_figures import over_rounds
from verdict_rivals import Workshop, plain

from tiebreak.audits.breadth import distinct
from tiebreak.domains.rust.blueprints import CARGO_TOOLS, Blueprint
from tiebreak.domains.rust.generator import generate
from tiebreak.domains.rust.generator.catalogue import TEMPLATES
from tiebreak.domains.rust.materialize import Reject, materialize
from tiebreak.domains.rust.shared_code import forms
from tiebreak.domains.rust.verdicts import Ask, Judge

SEED, THRESHOLD, DRAWN = 20261129, 0.92, 400
ROUNDS, SAMPLE, WORKERS = 4, 8, 2


def states(case: Blueprint) -> list[Ask]:
    """The crate as it is given, and at each cargo step of its plan."""
    files = dict(case.files)
    found = [files]
    for step in case.steps:
        if step.tool == "apply_patch" and step.file_path and step.find:
            files = files | {step.file_path: files[step.file_path].replace(step.find, step.replace or "")}
        elif step.tool in CARGO_TOOLS:
            found.append(files)
    if not case.family.startswith("patch"):
        del found[0]
    return [Ask.of(case.cargo_tool, state) for state in found]


def speed(cases: int, seed: int, attempts: int) -> None:
    """Print how long cases take on both sides, and what was rejected."""
    started = time.perf_counter()
    blueprints = generate("all", cases, seed, attempts=attempts)
    drawing = time.perf_counter() - started
    judge = Judge(None, workers=WORKERS, diagnostics="short")
    rounds: dict[str, list[float]] = {"plain": [], "ours": []}
    rejects: list[Reject] = []
    size, all_ours = -(-cases // ROUNDS), drawing
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder, tqdm(total=cases, desc="cases") as bar:
        for number in range(0, cases, size):
            part = blueprints[number : number + size]
            begun = time.perf_counter()
            rejects += materialize(part, judge, bar.update)[1]
            ours = time.perf_counter() - begun
            all_ours += ours
            rounds["ours"].append((ours + drawing / ROUNDS) / len(part))
            sample = [ask for case in part[:: max(1, len(part) // SAMPLE)][:SAMPLE] for ask in states(case)]
            rounds["plain"].append(Workshop(Path(folder) / "plain").seconds(plain, sample, WORKERS) / SAMPLE)
    row = over_rounds(rounds)
    load = os.getloadavg()[0]
    print(f"{cases} cases in {all_ours:.1f} s ({drawing:.1f} s of them drawing), {judge.ran} verdicts; load {load:.1f}")
    print(
        f"a case: plain {1000 * row['plain']:.0f} ms, ours {1000 * row['ours']:.0f} ms, {row['ratio']:.1f}x "
        f"({row['spread'][0]:.1f} to {row['spread'][1]:.1f})"
    )
    print(f"{len(rejects)} rejects")
    for reject in rejects:
        print("  " + "; ".join(reject["errors"])[:160])


def breadth() -> None:
    """Print how many of DRAWN cases of each template are distinct."""
    for name, template in TEMPLATES.items():
        cases = generate([name], DRAWN, SEED, keys=lambda case: [case.case_id])
        kept = distinct([(case.case_id, forms(case)) for case in cases], THRESHOLD)
        print(f"{name:14s} {template.category:28s} {len(kept):4d} of {DRAWN}")


def main() -> None:
    """Both parts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--attempts", type=int, default=2)
    given = parser.parse_args()
    speed(given.cases, given.seed, given.attempts)
    breadth()


if __name__ == "__main__":
    main()
