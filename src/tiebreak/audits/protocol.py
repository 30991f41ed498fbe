"""Protocol cleanliness and length, by arm, each number with what it is out of."""

from collections.abc import Sequence

import pandas as pd

PER = ["source", "arm"]
QUANTILES = {"median": 0.5, "p90": 0.9, "p99": 0.99}


def cleanliness(rollouts: pd.DataFrame, slips: Sequence[str]) -> pd.DataFrame:
    """For each source, arm and slip: rollouts that have it, of all, and how often it occurs in all of them.

    `stop_<word>` counts how rollouts ended; `clean` those that ended with `final` and have no slip at all; `gave_up`
    those that ended with `final` and without success.
    """
    marks = pd.DataFrame({slip: rollouts[slip].astype("int64") for slip in slips})
    stops = {f"stop_{word}": rollouts["stop"].eq(word).astype("int64") for word in sorted(set(rollouts["stop"]))}
    ended = rollouts["stop"].eq("final")
    ways = {"clean": ended & (marks.sum(axis=1) == 0), "gave_up": ended & ~rollouts["success"].eq(True)}
    marks = marks.assign(**stops, **{name: way.astype("int64") for name, way in ways.items()})
    keys = [rollouts[name] for name in PER]
    wide = {
        "rollouts": (marks > 0).groupby(keys, observed=True).sum(),
        "times": marks.groupby(keys, observed=True).sum(),
    }
    long = pd.concat({name: frame.stack() for name, frame in wide.items()}, axis=1)
    long.index.names = [*PER, "what"]
    totals = rollouts.groupby(PER, observed=True).size().rename("of_rollouts").reset_index()
    return long.reset_index().merge(totals, on=PER)


def lengths(rollouts: pd.DataFrame) -> pd.DataFrame:
    """For each source and arm: rollouts, new tokens (mean, quantiles, most), truncated ones, assistant turns."""
    groups = rollouts.groupby(PER, observed=True)
    tokens, turns = groups["new_tokens"], groups["turns"]
    columns = {
        "rollouts": groups.size(),
        "truncated": groups["truncated"].sum(),
        "truncated_fraction": groups["truncated"].mean(),
        "new_tokens_total": tokens.sum(),
        "new_tokens_mean": tokens.mean(),
        **{f"new_tokens_{name}": tokens.quantile(level) for name, level in QUANTILES.items()},
        "new_tokens_max": tokens.max(),
        "turns_mean": turns.mean(),
        "turns_median": turns.median(),
        "turns_max": turns.max(),
    }
    return pd.DataFrame(columns).reset_index()


def histogram(rollouts: pd.DataFrame, bins: int = 24) -> pd.DataFrame:
    """New tokens of each source and arm in bins of equal width, the same for all: low, high (not in it), rollouts."""
    most = int(rollouts["new_tokens"].max()) + 1
    width = max(1, -(-most // bins))
    at = (rollouts["new_tokens"] // width).rename("bin")
    counts = rollouts.groupby([*PER, at], observed=True).size().rename("rollouts").reset_index()
    return counts.assign(low=counts["bin"] * width, high=(counts["bin"] + 1) * width)[[*PER, "low", "high", "rollouts"]]
