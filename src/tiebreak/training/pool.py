"""Which prompts of the pool RL sees, and how often: by the band that a measurement of the SFT model put them in.

A band says how many of k samples were graded: none (`never`), some (`sometimes`), all (`always`). It is one noisy
measurement: an unlucky prompt stands in `never`, a lucky one in `always`, and both come out nearer the middle when they
are sampled again. So a band decides how often a prompt is shown and nothing else; no change may be read from it.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from math import floor
from pathlib import Path
from typing import Any, Literal

from tiebreak import tables
from tiebreak.errors import DataError, TrainingError
from tiebreak.sections.rlvr import BandWeights, Rlvr
from tiebreak.seeds import stream
from tiebreak.training.run import Run

Band = Literal["never", "sometimes", "always"]


@dataclass(frozen=True)
class Share:
    """How often a prompt is shown in a pass over the pool, on average; offset, in [0, 1), says in which passes."""

    weight: float = 1.0
    offset: float = 0.0

    def times(self, number: int) -> int:
        """How often in pass `number` (from 0): `weight` rounded down or up, and over all passes never off by one."""
        return floor((number + 1) * self.weight + self.offset) - floor(number * self.weight + self.offset)


def band_of(graded: int, samples: int) -> Band:
    """The band of a prompt of whose samples so many were graded."""
    if graded == 0:
        return "never"
    return "always" if graded == samples else "sometimes"


def band_rows(rollouts: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A row of `tables.BANDS` for each case. Raises DataError where infrastructure errors left a case no sample."""
    cases: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in rollouts:
        cases[row["case_id"]].append(row)
    found = []
    for case_id, rows in cases.items():
        ended = [row for row in rows if row["stop"] != "error"]
        if not ended:
            raise DataError(
                f"bands: case {case_id} has no sample that ended ({len(rows)} errors); sample the pool again"
            )
        graded = sum(bool(row["graded"]) for row in ended)
        labels = {name: rows[0][name] for name in ("case_id", "family", "template", "difficulty")}
        found.append(labels | {"graded": graded, "samples": len(ended), "band": band_of(graded, len(ended))})
    return found


def shares(bands: Path, case_ids: Sequence[str], weights: BandWeights, root_seed: int) -> list[Share]:
    """The share of each prompt of the pool, in order, the same for every arm and training seed.

    Raises TrainingError for a band that has a weight and no prompt, and DataError for a table of another pool.
    """
    table = tables.read_table(bands, ["case_id", "band"]).to_pylist()
    band = {row["case_id"]: row["band"] for row in table}
    if odd := sorted(set(band) ^ set(case_ids)):
        raise DataError(f"{bands}: case {odd[0]} is not in both the bands and the pool; measure the bands again")
    counts = {name: list(band.values()).count(name) for name in ("never", "sometimes", "always")}
    wanted = weights.model_dump()
    for name, prompts in counts.items():
        if wanted[name] > 0 and prompts == 0:
            there = ", ".join(f"{other} {number}" for other, number in counts.items())
            raise TrainingError(
                f"{bands}: no prompt of the pool is in band {name} ({there}), rlvr.pool.bands.{name} is "
                f"{wanted[name]:g}; write 0 for it, or take a larger pool or other cases"
            )
    return [Share(wanted[band[case]], stream(root_seed, "pool", case).random()) for case in case_ids]


def mixture(bands: Path, rlvr: Rlvr, prompts: Sequence[tuple[Any, Any]], root_seed: int) -> list[Share]:
    """How often each prompt, a case with its messages, is shown; none where the study does not mix its pool."""
    if rlvr.pool is None:
        return []
    return shares(bands, [case.case_id for case, _ in prompts], rlvr.pool.bands, root_seed)


def one_pass(prompts: Sequence[Any], wanted: Sequence[Share], number: int) -> list[Any]:
    """Pass `number` over the pool, in its order: each prompt as often as its share says; all once without shares."""
    if not wanted:
        return list(prompts)
    return [item for item, share in zip(prompts, wanted, strict=True) for _ in range(share.times(number))]


def batches(prompts: Sequence[Any], run: Run, rlvr: Rlvr, shares: Sequence[Share] = ()) -> list[Any]:
    """The prompts of all steps in order, `rlvr.prompts` a step: passes over the pool, each in an order of its own.

    shares: how often each prompt is shown in a pass; without them every prompt once.
    """
    order: list[Any] = []
    for number in count():
        if len(order) >= rlvr.steps * rlvr.prompts:
            break
        turn = one_pass(prompts, shares, number)
        stream(run.root_seed, "train", run.arm, run.training_seed, "order", number).shuffle(turn)
        order += turn
    return order[: rlvr.steps * rlvr.prompts]
