"""The exact sign-flip test on many cases, against scipy's permutation test and a plain dynamic programme.

    ./dev python benchmarks/signflip.py [--cases N] [--largest D] [--keep]

Differences are seeded whole numbers of at most D either way. Prints CPU seconds (the best of three for ours), ratios:

- `scipy.stats.permutation_test` of the same statistic with its default 9,999 draws: an estimate, not the value;
- the dynamic programme that one writes down first, a dictionary from sum to number of ways in exact integers, on the
  first cases alone (`--naive`), since all would take minutes. Its value is exact, so it also checks ours.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from keeping import keep
from scipy.stats import permutation_test

from tiebreak.stats.signflip import sign_flip_p

SEED = 20261129
DRAWS = 9_999


def naive(differences: Sequence[int]) -> Fraction:
    """p by counting the ways to each sum, in whole numbers."""
    ways = {0: 1}
    for difference in differences:
        grown: dict[int, int] = {}
        for total, count in ways.items():
            for step in (difference, -difference):
                grown[total + step] = grown.get(total + step, 0) + count
        ways = grown
    observed = abs(sum(differences))
    return Fraction(sum(count for total, count in ways.items() if abs(total) >= observed), 2 ** len(differences))


def scipy_p(differences: np.ndarray) -> float:
    """p by scipy, one of its own draws at a time in blocks that fit the memory."""

    def statistic(values: np.ndarray, axis: int = -1) -> np.ndarray:
        return np.abs(values.sum(axis=axis))

    return float(
        permutation_test(
            (differences.astype(float),),
            statistic,
            permutation_type="samples",
            alternative="greater",
            vectorized=True,
            n_resamples=DRAWS,
            batch=max(1, 4_000_000 // len(differences)),
            rng=np.random.default_rng(SEED),
        ).pvalue
    )


def timed(call: Callable[[], object], repeats: int = 1) -> tuple[object, float]:
    """What `call` gives, and the CPU seconds of its fastest repeat, which other work on the machine changes little."""
    best = float("inf")
    for _ in range(repeats):
        started = time.process_time()
        value = call()
        best = min(best, time.process_time() - started)
    return value, best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", default=10_000, type=int)
    parser.add_argument("--largest", default=8, type=int)
    parser.add_argument("--naive", default=600, type=int, help="cases for the plain dynamic programme")
    parser.add_argument("--keep", action="store_true", help="keep the figures for README (docs/benchmarks)")
    options = parser.parse_args()
    differences = np.random.default_rng(SEED).integers(-options.largest, options.largest + 1, options.cases)
    p, seconds = timed(lambda: sign_flip_p(differences), 3)
    print(f"{options.cases} cases, differences up to {options.largest}: exact p = {p:.10f} in {seconds:.3f} s")
    estimate, drawn = timed(lambda: scipy_p(differences))
    print(
        f"scipy.stats.permutation_test, {DRAWS:,} draws: p = {estimate:.4f} in {drawn:.2f} s, "
        f"{drawn / seconds:.0f} times ours"
    )
    few = differences[: options.naive]
    ours, quick = timed(lambda: sign_flip_p(few), 3)
    exact, slow = timed(lambda: naive(few.tolist()))
    off = abs(ours / float(exact) - 1)
    print(
        f"plain dynamic programme on {len(few)} cases: p = {float(exact):.10f} in {slow:.2f} s, "
        f"{slow / quick:.0f} times ours ({quick:.4f} s), relative difference {off:.1e}"
    )
    if options.keep:
        ours = {"cases": len(differences), "largest": options.largest, "seconds": seconds, "p": p}
        scipy = {"draws": DRAWS, "seconds": drawn, "p": estimate, "ratio": drawn / seconds}
        plain = {"cases": len(few), "seconds": slow, "ratio": slow / quick}
        keep("signflip", {"ours": ours, "scipy": scipy, "naive": plain})


if __name__ == "__main__":
    main()
