"""Where the variance of one outcome comes from: training runs, cases, their interplay, and the sampling of rollouts.

The model of an outcome y (0 or 1) of sample j on case i by run r of an arm is the two-way crossed one with interaction,

    y = mean of the arm + run_r + case_i + (run × case)_ri + sample_rij,

all four effects random. It is estimated by the method of moments (Searle, Casella and McCulloch, *Variance Components*,
1992, chapter 4) on the table of cell rates p_ri, in its unweighted form, so that cells may differ in their number n of
samples. With R runs of an arm and C cases, and every mean square taken over the table of cell rates,

    sampling variance of a cell rate   S    = mean of p(1 − p)/(n − 1)
    E[mean square of run × case]            = run_case + S
    E[mean square of runs]                  = run_case + S + C · run
    E[mean square of cases]                 = run_case + S + R · case

and `sample`, the variance of one rollout, is the mean of p(1 − p)·n/(n − 1). All but cases are pooled over arms by
degrees of freedom; cases are averaged over arms. The estimates are unbiased and so may be negative: a negative one is
given as it came out, listed in `negative`, and counts as zero in the shares and in what is planned from it.

Runs share their sampling seeds on purpose. Where two models are nearly alike their samples are alike as well, with some
covariance per rollout. By it `run_case` comes out too small, and maybe negative, and `case` too large; `run` is
untouched, and so is the spread of run means that is predicted from all of them, unless a negative part was clipped:
then it is too large, and the promised power too small.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from tiebreak.stats.passk import Floats

PARTS = ("run", "case", "run_case", "sample")


@dataclass(frozen=True)
class Components:
    """The four components, in squared units of the outcome; None where the design cannot tell one.

    freedom: of the runs (Σ R − 1 over arms). samples: rollouts of a case by a run (the harmonic mean). negative: the
    parts whose estimate is below zero. shares: of the variance of one rollout, negative parts counting as zero.
    note: in words, what could not be told; "" where all could.
    """

    run: float | None
    case: float | None
    run_case: float | None
    sample: float | None
    freedom: int
    cases: int
    samples: float
    negative: tuple[str, ...]
    shares: dict[str, float]
    note: str = ""


@dataclass(frozen=True)
class Squares:
    """Mean squares of one arm's table of cell rates (runs × cases), and how its cells vary by sampling."""

    runs: int
    cases: int
    run: float
    interplay: float
    case: float
    sampling: float
    sample: float


def squares(solved: Floats, samples: Floats) -> Squares:
    """Sums of squares over degrees of freedom of one arm; `solved` and `samples` have shape (runs, cases)."""
    rates = solved / samples
    runs, cases = rates.shape
    by_run, by_case, mean = rates.mean(axis=1), rates.mean(axis=0), rates.mean()
    inside = rates - by_run[:, None] - by_case[None, :] + mean
    within = rates * (1 - rates) / (samples - 1)
    return Squares(
        runs=runs,
        cases=cases,
        run=cases * float(((by_run - mean) ** 2).sum()) / max(1, runs - 1),
        interplay=float((inside**2).sum()) / max(1, (runs - 1) * (cases - 1)),
        case=runs * float(((by_case - mean) ** 2).sum()) / max(1, cases - 1),
        sampling=float(within.mean()),
        sample=float((within * samples).mean()),
    )


def components(table: pd.DataFrame, outcome: str = "graded") -> Components:
    """The components of `outcome` over all arms of a counts table, repetitions pooled."""
    pooled = table.groupby(["arm", "run", "case_id"], sort=True)[[outcome, "n"]].sum()
    least, cases = int(pooled["n"].min()), int(table["case_id"].nunique())
    harmonic = float(1 / (1 / pooled["n"]).mean()) if least else 0.0
    if least < 2 or cases < 2:
        what = "two samples of every case by every run" if least < 2 else "two cases"
        return Components(None, None, None, None, 0, cases, harmonic, (), {}, f"it takes {what} to tell the parts")
    arms = [
        squares(*(part[name].unstack().to_numpy(dtype=float) for name in (outcome, "n")))
        for _, part in pooled.groupby(level="arm", sort=True)
    ]
    return estimated(arms, harmonic)


def estimated(arms: Sequence[Squares], samples: float) -> Components:
    """The components from the mean squares of all arms."""
    cases, freedom = arms[0].cases, sum(arm.runs - 1 for arm in arms)
    if not freedom:
        sample = float(np.mean([arm.sample for arm in arms]))
        both = float(np.mean([arm.case - arm.sampling for arm in arms]))
        note = "every arm has one run: what runs differ by is not known, and `case` holds run × case as well"
        return told({"run": None, "case": both, "run_case": None, "sample": sample}, 0, cases, samples, note)
    between, interplay, sampling, sample = (
        sum((arm.runs - 1) * float(getattr(arm, name)) for arm in arms) / freedom
        for name in ("run", "interplay", "sampling", "sample")
    )
    run_case = interplay - sampling
    by_case = [(arm.case - run_case - arm.sampling) / arm.runs for arm in arms]
    parts = {
        "run": (between - interplay) / cases,
        "case": float(np.mean(by_case)),
        "run_case": run_case,
        "sample": sample,
    }
    return told(parts, freedom, cases, samples)


def told(parts: Mapping[str, float | None], freedom: int, cases: int, samples: float, note: str = "") -> Components:
    """The components with their shares."""
    known = {name: max(0.0, value) for name, value in parts.items() if value is not None}
    total = sum(known.values())
    negative = tuple(name for name in PARTS if (parts[name] or 0.0) < 0)
    shares = {name: value / total for name, value in known.items()} if total else {}
    return Components(
        **parts, freedom=freedom, cases=cases, samples=samples, negative=negative, shares=shares, note=note
    )


def run_deviation(parts: Components, *, cases: int, samples: float) -> float | None:
    """The standard deviation of run means that an evaluation on `cases` cases with `samples` rollouts each would show.

    sqrt(run + (run_case + sample / samples) / cases); None where runs could not be told apart.
    """
    if parts.run is None or parts.run_case is None or parts.sample is None:
        return None
    return math.sqrt(max(0.0, parts.run) + (max(0.0, parts.run_case) + parts.sample / samples) / cases)
