"""How often does each test call a difference where there is none, and does a planned design find what it promises?

    ./dev python benchmarks/calibration.py [--studies N] [--out docs/calibration]

Simulated studies, seeded, on cases whose difficulty is spread as in the published evaluation (a third never solved, a
quarter nearly always), in templates that share half of it. Training runs differ: each shifts all cases, each template
and each case a little, on the scale of log-odds.

*Null*: two arms of one recipe. The run-level test permutes the run means; the case-level tests flip the signs of paired
differences, over cases and over templates, with one run an arm (as studies are published) and with all runs pooled.
Below α is right; above it, a test answers another question than whether the recipe did anything.

*Power*: from a large pilot's variance components (`variance.components`) the spread of run means is predicted for the
planned evaluation, from it the runs that find the effect with at least 80 % (`power.runs_for`) and their exact promise.
Then such studies are simulated: with two arms, and with three of which one differs (the promise is that of Holm's first
step). It holds for the true spread; what pilots of six runs would have promised is given as well, and varies widely.

Writes calibration.json and calibration.svg and prints the figures. A few minutes on one core.
"""

import argparse
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from tqdm import tqdm

from tiebreak.report.drawing import COLOURS, INK, STYLE, svg
from tiebreak.seeds import derive
from tiebreak.stats.permutation import holm, permutation_p
from tiebreak.stats.power import runs_for
from tiebreak.stats.run_power import level_of, power_of_runs
from tiebreak.stats.signflip import cluster_sums, sign_flip
from tiebreak.stats.variance import components, run_deviation

ROOT_SEED = 20261129
ALPHA, POWER = 0.05, 0.8
SPREADS = (0.0, 0.08, 0.16, 0.24, 0.32)
PLANNED = 0.16
EFFECT = 0.05
MORE = 5
PILOT_RUNS, SMALL_PILOT, PILOTS = 4000, 6, 200
TESTS = {
    "runs": "training runs, permuted",
    "cases_one_run": "cases, one run an arm",
    "templates_one_run": "templates, one run an arm",
    "cases_pooled": "cases, all runs pooled",
    "templates_pooled": "templates, all runs pooled",
}


@dataclass(frozen=True)
class Shape:
    """What is evaluated: cases in templates, k samples in each repetition, and runs an arm."""

    cases: int = 150
    templates: int = 24
    k: int = 8
    repetitions: int = 5
    runs: int = 5

    @property
    def samples(self) -> int:
        """Rollouts of a case by a run."""
        return self.k * self.repetitions

    @property
    def labels(self) -> list[int]:
        """The template of each case."""
        return [case % self.templates for case in range(self.cases)]


def difficulty(shape: Shape, rng: np.random.Generator) -> np.ndarray:
    """Log-odds of each case, half of their variance shared within a template."""
    shared = rng.normal(0, 1, shape.templates)[shape.labels]
    return -0.4 + 3.2 * (math.sqrt(0.5) * shared + math.sqrt(0.5) * rng.normal(0, 1, shape.cases))


def runs_of(
    level: np.ndarray, shape: Shape, runs: int, spread: float, rng: np.random.Generator, shift: float = 0.0
) -> np.ndarray:
    """Solved samples of each run and case, shape (runs, cases).

    spread: the standard deviation of a run's shift, and of what it does to a template; half of it for a case.
    """
    moved = rng.normal(0, spread, (runs, 1)) + rng.normal(0, spread, (runs, shape.templates))[:, shape.labels]
    odds = level + shift + moved + rng.normal(0, spread / 2, (runs, shape.cases))
    return rng.binomial(shape.samples, 1 / (1 + np.exp(-odds)))


def over_runs(a: np.ndarray, b: np.ndarray) -> float:
    """The p of the run-level test."""
    return permutation_p(a.mean(axis=1).tolist(), b.mean(axis=1).tolist())


def over_cases(a: np.ndarray, b: np.ndarray, shape: Shape) -> dict[str, float]:
    """The p of every case-level test of arm b against arm a."""
    found = {}
    for name, differences in (("one_run", b[0] - a[0]), ("pooled", (b - a).sum(axis=0))):
        found[f"cases_{name}"] = sign_flip(differences).p
        found[f"templates_{name}"] = sign_flip(cluster_sums(differences, shape.labels)).p
    return found


def null(shape: Shape, spread: float, studies: int) -> dict[str, Any]:
    """Rejection rates at α where no arm has an effect, and the spread of run means that was seen.

    The run-level test, whose rate is close to α, is made on MORE times as many studies.
    """
    rng = np.random.default_rng(derive(ROOT_SEED, "calibration", "null", f"{spread:g}"))
    rejected, variances = dict.fromkeys(TESTS, 0), []
    for study in tqdm(range(MORE * studies), desc=f"null, spread {spread:g}", mininterval=1):
        level = difficulty(shape, rng)
        a, b = (runs_of(level, shape, shape.runs, spread, rng) for _ in range(2))
        ps = {"runs": over_runs(a, b)} | (over_cases(a, b, shape) if study < studies else {})
        for name, p in ps.items():
            rejected[name] += p <= ALPHA
        variances += [arm.mean(axis=1).var(ddof=1) / shape.samples**2 for arm in (a, b)]
    rates = {name: count / (studies * (MORE if name == "runs" else 1)) for name, count in rejected.items()}
    return {"spread": spread, "run_deviation": math.sqrt(np.mean(variances)), "rejected": rates}


def counts(solved: np.ndarray, shape: Shape) -> pd.DataFrame:
    """A counts table of one arm, as `variance.components` reads it."""
    runs, cases = solved.shape
    return pd.DataFrame(
        {
            "arm": "pilot",
            "run": np.repeat([f"pilot-seed{run}" for run in range(runs)], cases),
            "case_id": np.tile([f"case_{case:03d}" for case in range(cases)], runs),
            "n": shape.samples,
            "graded": solved.ravel(),
        }
    )


def planned(shape: Shape, level: np.ndarray, runs: int, rng: np.random.Generator) -> float:
    """The spread of run means at `shape`, predicted from a pilot of `runs` runs with a single repetition."""
    pilot = Shape(shape.cases, shape.templates, shape.k, 1, runs)
    parts = components(counts(runs_of(level, pilot, runs, PLANNED, rng), pilot))
    deviation = run_deviation(parts, cases=shape.cases, samples=shape.samples)
    assert deviation is not None
    return deviation


def shift_for(level: np.ndarray, effect: float) -> float:
    """The shift of log-odds that moves the mean rate by `effect`, by bisection over the runs' own spread."""
    own = math.sqrt(2 + 0.25) * PLANNED * np.linspace(-3, 3, 61)[:, None]
    weights = np.exp(-(np.linspace(-3, 3, 61) ** 2) / 2)

    def mean(shift: float) -> float:
        return float(np.average((1 / (1 + np.exp(-(level + own + shift)))).mean(axis=1), weights=weights))

    low, high = 0.0, 5.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if mean(middle) - mean(0.0) < effect else (low, middle)
    return high


def power(shape: Shape, arms: int, studies: int) -> dict[str, Any]:
    """The promise of the recommended design for EFFECT, and what it found with `arms` arms; the last one differs."""
    rng = np.random.default_rng(derive(ROOT_SEED, "calibration", "power", arms))
    pairs = list(combinations(range(arms), 2))
    level = difficulty(shape, rng)
    deviation, shift = planned(shape, level, PILOT_RUNS, rng), shift_for(level, EFFECT)
    recommended = runs_for(EFFECT, deviation, alpha=ALPHA, pairs=len(pairs), power=POWER)
    assert recommended is not None
    runs, promised = recommended
    small = [planned(shape, level, SMALL_PILOT, rng) for _ in range(PILOTS)]
    others = [power_of_runs(EFFECT / guess, runs, runs, level=ALPHA / len(pairs)) for guess in small]
    found = after_holm = 0
    means: list[list[np.ndarray]] = [[] for _ in range(arms)]
    for _ in tqdm(range(studies), desc=f"power, {arms} arms of {runs} runs", mininterval=1):
        solved = [runs_of(level, shape, runs, PLANNED, rng, shift * (arm == arms - 1)) for arm in range(arms)]
        rates = [part.mean(axis=1) / shape.samples for part in solved]
        ps = [permutation_p(rates[a].tolist(), rates[b].tolist()) for a, b in pairs]
        found += ps[pairs.index((0, arms - 1))] <= ALPHA / len(pairs) + 1e-12
        after_holm += holm(ps)[pairs.index((0, arms - 1))] <= ALPHA + 1e-12
        for arm, part in enumerate(rates):
            means[arm].append(part)
    share = found / studies
    return {
        "arms": arms,
        "pairs": len(pairs),
        "runs": runs,
        "effect": EFFECT,
        "effect_seen": float(np.mean(means[-1]) - np.mean(means[0])),
        "run_deviation_planned": deviation,
        "run_deviation_seen": float(np.sqrt(np.mean([np.var(means[0], axis=1, ddof=1)]))),
        "promised": promised,
        "promised_by_small_pilots": [float(np.quantile(others, share)) for share in (0.1, 0.5, 0.9)],
        "found": share,
        "found_after_holm": after_holm / studies,
        "error": math.sqrt(share * (1 - share) / studies),
    }


def figure(nulls: Sequence[dict[str, Any]], powers: Sequence[dict[str, Any]]) -> Figure:
    """Rejection rates under the null by spread of run means; promised and found power."""
    drawn = Figure(figsize=(6.4, 5.4), layout=ConstrainedLayoutEngine(h_pad=0.12))
    top, bottom = drawn.subplots(2, 1, height_ratios=[3, 1])
    deviations = [100 * row["run_deviation"] for row in nulls]
    for (name, label), colour, mark in zip(TESTS.items(), COLOURS, "so^DvP", strict=False):
        rates = [100 * row["rejected"][name] for row in nulls]
        dash = (0, (1, 1.2)) if name.endswith("pooled") else "-"
        top.plot(deviations, rates, marker=mark, color=colour, linestyle=dash, linewidth=1.4, markersize=5, label=label)
    top.axhline(100 * ALPHA, color=INK, linewidth=0.9, linestyle=(0, (4, 2)))
    top.annotate(f"{100 * ALPHA:g} %", (deviations[-1], 100 * ALPHA), (0, 6), textcoords="offset points", fontsize=8)
    top.set(xlabel="standard deviation of run means, points of pass@1", ylabel="studies that call a difference, %")
    top.set_ylim(0, None)
    top.set_title("no arm has an effect")
    top.legend(fontsize=8)
    for y, row in enumerate(powers):
        error = 196 * row["error"]
        bottom.errorbar(100 * row["found"], y, xerr=error, fmt="s", color=COLOURS[0], label="found" if not y else None)
        bottom.plot(100 * row["promised"], y, "|", color=COLOURS[1], markersize=16, label="promised" if not y else None)
    bottom.set_yticks(range(len(powers)), [f"{row['arms']} arms, {row['runs']} runs each" for row in powers])
    bottom.set_ylim(len(powers) - 0.5, -0.5)
    bottom.set_xlim(70, 100)
    bottom.set_xlabel(f"studies that find a difference of {100 * EFFECT:g} points, %")
    bottom.set_title("the recommended design")
    bottom.legend(fontsize=8, loc="upper left")
    return drawn


def simulate(studies: int) -> dict[str, Any]:
    """All that is written down."""
    shape = Shape()
    nulls = [null(shape, spread, studies) for spread in SPREADS]
    return {
        "root_seed": ROOT_SEED,
        "studies": studies,
        "studies_of_the_run_level_test": MORE * studies,
        "level_of_the_run_level_test": level_of(ALPHA, math.comb(2 * shape.runs, shape.runs), equal=True),
        "alpha": ALPHA,
        "power": POWER,
        "design": asdict(shape),
        "pilots": {"runs": PILOT_RUNS, "repetitions": 1, "small": SMALL_PILOT},
        "largest_standard_errors": {
            "cases": math.sqrt(0.25 / studies),
            "runs": math.sqrt(ALPHA * (1 - ALPHA) / (MORE * studies)),
        },
        "null": nulls,
        "powers": [power(shape, arms, 2 * studies) for arms in (2, 3)],
    }


def show(found: dict[str, Any]) -> None:
    """Print the figures."""
    print(f"{'run deviation':>14}  " + "  ".join(f"{name:>17}" for name in TESTS))
    for row in found["null"]:
        print(f"{row['run_deviation']:14.4f}  " + "  ".join(f"{row['rejected'][name]:17.4f}" for name in TESTS))
    for row in found["powers"]:
        print(
            f"{row['arms']} arms, {row['runs']} runs each, effect {row['effect']}: promised {row['promised']:.3f}, "
            f"found {row['found']:.3f} (standard error {row['error']:.3f}), after Holm {row['found_after_holm']:.3f}; "
            f"pilots of {SMALL_PILOT} runs promise {' / '.join(f'{p:.3f}' for p in row['promised_by_small_pilots'])} "
            "(quantiles 0.1, 0.5, 0.9)"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", default=4000, type=int, help="simulated studies at each point")
    parser.add_argument("--out", default="docs/calibration", type=Path)
    parser.add_argument("--redraw", action="store_true", help="only draw what calibration.json holds")
    options = parser.parse_args()
    stored = options.out / "calibration.json"
    found = json.loads(stored.read_text(encoding="utf-8")) if options.redraw else simulate(options.studies)
    options.out.mkdir(parents=True, exist_ok=True)
    stored.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    with matplotlib.rc_context(STYLE):
        text = svg(figure(found["null"], found["powers"]), "calibration")
    (options.out / "calibration.svg").write_text(text, encoding="utf-8")
    show(found)


if __name__ == "__main__":
    main()
