"""The figures of the verdict benchmark: ratios with their spread, what is asked of them, and how they are shown."""

import platform
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, median, quantiles
from typing import Any

# what must hold, and what is hoped for
GOALS: dict[str, tuple[float, float]] = {
    "one new state": (2, 3),
    "a batch of new states": (8, 15),
    "a repeated state": (1000, 1000),
    "pass@8, its verdicts": (8, 20),
}


def over_states(ratios: Sequence[float]) -> dict[str, Any]:
    """The median of ratios, and their quartiles."""
    low, middle, high = quantiles(ratios, n=4)
    return {"ratio": middle, "spread": [low, high]}


def over_rounds(rounds: dict[str, list[float]]) -> dict[str, Any]:
    """Seconds a piece on each side, over all rounds, and the ratio of plain to ours."""
    row: dict[str, Any] = {name: median(values) for name, values in rounds.items()}
    ratios = [one / other for one, other in zip(rounds["plain"], rounds["ours"], strict=True)]
    return row | {"ratio": fmean(rounds["plain"]) / fmean(rounds["ours"]), "spread": [min(ratios), max(ratios)]}


def line(name: str, row: dict[str, Any]) -> str:
    """One measurement as a person reads it; seconds are those of one state, one call or one rollout."""
    asked, hoped = GOALS.get(name, (0, 0))
    goal = f"  at least {asked:g}x: {'holds' if row['ratio'] >= asked else 'MISSED'}" if asked else ""
    goal += f", hoped {hoped:g}x: {'holds' if row['ratio'] >= hoped else 'not yet'}" if hoped > asked else ""
    sides = "  ".join(f"{side} {1000 * row[side]:9.3f} ms" for side in ("plain", "ours", "bare") if side in row)
    low, high = row["spread"]
    return f"{name:22s} {sides}  {row['ratio']:8.1f}x ({low:.1f} to {high:.1f}, {row['of']}){goal}"


def residue(found: dict[str, Any]) -> str:
    """What stays, and what it takes, as a person reads it."""
    memory = found["peak_mib"]
    return (
        f"left behind: {found['left_bytes_a_rollout']:.0f} bytes a rollout "
        f"({found['cache_bytes_a_state']:.0f} bytes of cache a new state); "
        f"plain {found['plain_bytes_a_state'] / 1e6:.1f} MB a state\n"
        f"peak memory: {memory['here']:.0f} MiB in this process, "
        f"{memory['programs']:.0f} MiB in all that it had started at once, in batches"
    )


def cpu() -> str:
    """The processor's name, where the kernel tells it."""
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8") if Path("/proc/cpuinfo").exists() else ""
    names = [row.partition(":")[2].strip() for row in text.splitlines() if row.startswith("model name")]
    return names[0] if names else platform.machine()
