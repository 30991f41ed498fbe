"""Two stored evaluations of the same cases, compared: solved cases at k and pass@1, with both sign-flip tests."""

from collections.abc import Hashable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from tiebreak.errors import DataError
from tiebreak.seeds import derive
from tiebreak.stats.bootstrap import cluster_error
from tiebreak.stats.clusters import Clusters, Patterns, by_name, by_template
from tiebreak.stats.noise import floor
from tiebreak.stats.passk import Floats, Integers, pass_at_k
from tiebreak.stats.power import POWER, detectable
from tiebreak.stats.signflip import cluster_sums, rate_differences, sign_flip
from tiebreak.stats.stored import Evaluation, refuse_one_under_two_names, refuse_unlike

ALPHA = 0.05
OUTCOMES = ("graded", "valid", "success")


def compare(
    a: Evaluation,
    b: Evaluation,
    *,
    patterns: Patterns | None = None,
    source: str = "name patterns",
    outcome: str | None = None,
    alpha: float = ALPHA,
    power: float = POWER,
) -> dict[str, Any]:
    """Evaluation b against a, JSON-ready.

    patterns: name patterns to cluster by, `source` being where they are from; without them the recorded templates are
    taken where both have them. outcome: graded where both know it, else valid. Differences are b − a.
    Raises DataError for evaluations that must not be compared: see `stored`.
    """
    refuse_one_under_two_names(a, b)
    refuse_unlike(a, b)
    outcome = shared_outcome(a, b, outcome)
    left, right = by_case(a, outcome), by_case(b, outcome)
    clusters = clusters_of(left, right, patterns, source)
    lost = int(left["errors"].sum() + right["errors"].sum())
    return {
        "outcome": outcome,
        "k": a.k,
        "cases": len(left),
        "alpha": alpha,
        "power": power,
        "clusters": {"source": clusters.source, "count": clusters.count},
        "a": level(a, outcome),
        "b": level(b, outcome),
        "solved": None
        if lost
        else {"measure": f"{outcome}@{a.k}", **solved_cases(left, right, clusters, alpha, power)},
        "pass_at_1": rates(left, right, clusters, alpha, power),
        "noise": noise(a, b, outcome),
        "notes": notes(a, b, outcome, lost),
    }


def shared_outcome(a: Evaluation, b: Evaluation, wanted: str | None) -> str:
    """The outcome that is compared; raises DataError where not both evaluations know it."""
    shared = [name for name in OUTCOMES if name in a.outcomes and name in b.outcomes]
    if wanted is None:
        return shared[0]
    if wanted not in shared:
        without = next(part.name for part in (a, b) if wanted not in part.outcomes)
        raise DataError(f"{without}: does not tell which rollouts are {wanted}; both tell {' and '.join(shared)}")
    return wanted


def by_case(evaluation: Evaluation, outcome: str) -> pd.DataFrame:
    """One row a case, sorted: samples n, errors, hits, in how many repetitions it was solved, and of how many."""
    table = evaluation.table.assign(hits=evaluation.table[outcome], solved=evaluation.table[outcome] > 0, repetitions=1)
    columns = ["n", "errors", "hits", "solved", "repetitions"]
    summed = table.groupby("case_id", sort=True)[columns].sum().astype(int)
    if evaluation.has_templates:
        summed["template"] = table.groupby("case_id", sort=True)["template"].first()
    return summed.reset_index()


def clusters_of(left: pd.DataFrame, right: pd.DataFrame, patterns: Patterns | None, source: str) -> Clusters:
    """The clusters of the cases; raises DataError where the two evaluations record different templates for a case."""
    if patterns is not None:
        return by_name(left["case_id"], patterns, source)
    if "template" not in left or "template" not in right:
        return by_template(None)
    other = left["template"] != right["template"]
    if other.any():
        case = left["case_id"][other].iloc[0]
        raise DataError(f"case {case} is of template {left['template'][other].iloc[0]} in one and another in the other")
    return by_template(left["template"].tolist())


def solved_cases(
    left: pd.DataFrame, right: pd.DataFrame, clusters: Clusters, alpha: float, power: float
) -> dict[str, Any]:
    """Cases with at least one hit among the k rollouts of a repetition, averaged over repetitions; in cases."""
    a, b = (part["solved"].to_numpy() / part["repetitions"].to_numpy() for part in (left, right))
    signed = rate_differences(left["solved"], left["repetitions"], right["solved"], right["repetitions"])
    return tested(signed, b - a, left["case_id"].tolist(), clusters, alpha, power, scale=len(left))


def rates(left: pd.DataFrame, right: pd.DataFrame, clusters: Clusters, alpha: float, power: float) -> dict[str, Any]:
    """pass@1, the mean over cases of the rate of hits; as a fraction. `delta_over_all` counts errors as failures."""
    signed = rate_differences(left["hits"], left["n"], right["hits"], right["n"])
    a, b = (part["hits"].to_numpy() / part["n"].to_numpy() for part in (left, right))
    everything = [part["hits"].to_numpy() / (part["n"] + part["errors"]).to_numpy() for part in (left, right)]
    return {
        **tested(signed, b - a, left["case_id"].tolist(), clusters, alpha, power),
        "delta_over_all": float(np.mean(everything[1] - everything[0])),
    }


def tested(
    signed: Integers,
    values: Floats,
    cases: Sequence[Hashable],
    clusters: Clusters,
    alpha: float,
    power: float,
    scale: int = 1,
) -> dict[str, Any]:
    """The mean of `values` times `scale`, with both tests of the same differences in whole numbers.

    The detectable effect is over clusters where there are any, else over cases.
    """
    labels = clusters.labels if clusters.labels is not None else list(cases)
    error = cluster_error(values, labels)
    effect = detectable(error, len(set(labels)) - 1, alpha=alpha, power=power)
    seed = derive(0, "compare", len(signed))
    sums = None if clusters.labels is None else cluster_sums(signed, clusters.labels)
    return {
        "delta": whole_if_whole(float(values.mean() * scale)),
        "up": int((signed > 0).sum()),
        "down": int((signed < 0).sum()),
        "over_cases": asdict(sign_flip(signed, seed=seed)),
        "over_clusters": None if sums is None else asdict(sign_flip(sums, seed=seed)),
        "detectable": None if effect is None else effect * scale,
    }


def whole_if_whole(value: float) -> int | float:
    """A float that is a whole number but for rounding, as an integer."""
    return round(value) if abs(value - round(value)) < 1e-9 else value


def level(evaluation: Evaluation, outcome: str) -> dict[str, Any]:
    """What an evaluation came to: `solved` cases of each repetition, pass@1, and the unbiased pass@k of a run.

    pass@k is None where a case has fewer than k samples. `over_all` is pass@1 with errors counted as failures.
    """
    table = evaluation.table
    repetitions = table.assign(solved=table[outcome] > 0).groupby(["run", "repetition"], sort=True)["solved"].sum()
    cases = by_case(evaluation, outcome)
    return {
        "name": evaluation.name,
        "layout": evaluation.layout,
        "retained": evaluation.retained,
        "runs": int(table["run"].nunique()),
        "repetitions": evaluation.repetitions,
        "samples": int(cases["n"].sum()),
        "errors": int(cases["errors"].sum()),
        "rollouts": int(cases["n"].sum() + cases["errors"].sum()),
        "solved": [int(count) for count in repetitions],
        "pass_at_1": mean_or_none(cases["hits"], cases["n"]),
        "pass_at_k": run_pass_at_k(table, outcome, evaluation.k),
        "over_all": mean_or_none(cases["hits"], cases["n"] + cases["errors"]),
    }


def mean_or_none(hits: pd.Series, samples: pd.Series) -> float | None:
    """The mean over cases of hits per sample; None where a case has no sample."""
    return None if (samples == 0).any() else float((hits / samples).mean())


def run_pass_at_k(table: pd.DataFrame, outcome: str, k: int) -> float | None:
    """pass@k of each run over all its repetitions, averaged over runs; None where a case has fewer than k samples."""
    sums = table.groupby(["run", "case_id"], sort=True)[["n", outcome]].sum()
    if (sums["n"] < k).any():
        return None
    estimates: npt.NDArray[np.float64] = pass_at_k(sums["n"].to_numpy(), sums[outcome].to_numpy(), k)
    return float(pd.Series(estimates, index=sums.index).groupby(level="run").mean().mean())


def noise(a: Evaluation, b: Evaluation, outcome: str) -> dict[str, Any] | None:
    """How far repetitions of one run are apart, over both evaluations; None where no run has two."""
    both = pd.concat([part.table.assign(run=f"{side}: " + part.table["run"]) for side, part in (("a", a), ("b", b))])
    found = floor(both, outcome)
    return found if found["pairs"] else None


def notes(a: Evaluation, b: Evaluation, outcome: str, lost: int) -> list[str]:
    """What a reader has to know beside the numbers."""
    lines = []
    if lost:
        lines.append(
            f"{lost} rollouts ended in an infrastructure error: they are in no rate but delta_over_all, and solved "
            f"cases at {a.k} are not compared, since some cases had fewer than {a.k} chances"
        )
    runs = set(a.table["run"]) & set(b.table["run"])
    if runs and a.layout == b.layout == "rollouts":
        lines.append(f"a and b are repetitions of one run ({min(runs)}): their difference is the noise floor itself")
    for side, part in (("a", a), ("b", b)):
        if part.samples is not None and part.samples["seeds"].isna().all():
            lines.append(f"{side} records no seeds: whether its rollouts were drawn apart cannot be told")
        if not part.retained:
            lines.append(f"{side} keeps counts without rollouts: nothing behind them can be looked at again")
        lines += [file.doubt for file in part.files if file.doubt]
    if "published" in (a.layout, b.layout):
        lines.append(
            "the published layout records no seeds: that its repetitions drew from different ones cannot be told"
        )
    keys = ["case_id", "n", outcome]
    same = [part.table.sort_values(["run", "repetition", "case_id"])[keys].to_numpy().tolist() for part in (a, b)]
    if same[0] == same[1]:
        lines.append(
            "a and b count the same in every case: if they are one evaluation under two names, nothing is compared"
        )
    return [*lines, "both tests speak of these checkpoints; about the recipe that made them they say nothing"]
