"""Which cases training, RL and evaluation see: disjoint, of exact size, alike in family, difficulty, depth, template.

The holdout is drawn first, then the pool, then the cases of SFT. A case that is too near to one that was drawn for
another split is left out of the draws that follow.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tiebreak.digest import json_digest
from tiebreak.domains.base import Case
from tiebreak.errors import DataError
from tiebreak.sections.data import Splits
from tiebreak.seeds import stream

Stratum = tuple[str, str, int, str]
Near = Callable[[Collection[str], Collection[str]], Collection[str]]
"""(case ids that were drawn, case ids that are left) -> those of the left that are too near to a drawn one."""


@dataclass
class Division:
    """ids: the case ids of each split, sorted. dropped: those left out, by the split that they are too near to."""

    ids: dict[str, list[str]] = field(default_factory=dict)
    dropped: dict[str, list[str]] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        """As the file holds it: the splits by name, what was dropped, and the digest of the splits."""
        return {**self.ids, "dropped": self.dropped, "digest": json_digest(self.ids)}


def nothing_near(drawn: Collection[str], left: Collection[str]) -> Collection[str]:
    """Where nearness does not matter."""
    return ()


def split(cases: Sequence[Case], splits: Splits, root_seed: int) -> dict[str, list[str]]:
    """`divide` where nearness does not matter: the case ids of each split."""
    return divide(cases, splits, root_seed).ids


def divide(cases: Sequence[Case], splits: Splits, root_seed: int, near: Near = nothing_near) -> Division:
    """The splits sft, pool and holdout; the order of `cases` does not matter.

    By `cases`, every split has its share of each family, difficulty, depth and template. By `templates`, whole
    templates are held out, and the cases of those that the holdout has no room for are in no split.
    Raises DataError where there are too few cases.
    """
    check(cases, splits)
    inside = rest = cases
    if splits.holdout_by == "templates":
        held = held_templates(cases, splits, root_seed)
        inside = [case for case in cases if case.template in held]
        rest = [case for case in cases if case.template not in held]
    found = Division()
    draw(shuffled_strata(inside, root_seed), "holdout", splits.holdout, root_seed, found)
    drawn = set(found.ids["holdout"])
    left = shuffled_strata([case for case in rest if case.case_id not in drawn], root_seed)
    leave_out(left, "holdout", near, found)
    draw(left, "pool", splits.pool, root_seed, found)
    leave_out(left, "pool", near, found)
    draw(left, "sft", splits.sft, root_seed, found)
    return found


def check(cases: Sequence[Case], splits: Splits) -> None:
    """Refuse a case id that occurs twice, and too few cases."""
    counts = Counter(case.case_id for case in cases)
    if len(counts) < len(cases):
        twice = sorted(name for name, count in counts.items() if count > 1)
        raise DataError(f"splits: {len(twice)} case ids occur twice, the first is {twice[0]}; ids must be unique")
    if len(cases) < splits.total:
        raise DataError(
            f"splits: {len(cases)} cases materialized, {splits.total} are needed "
            f"(sft {splits.sft}, pool {splits.pool}, holdout {splits.holdout}); "
            "give data.source more cases or lower data.splits"
        )


def held_templates(cases: Sequence[Case], splits: Splits, root_seed: int) -> set[str]:
    """Templates in a seeded order until they fill the holdout. Raises DataError where too few cases are left."""
    sizes = Counter(case.template for case in cases)
    names = sorted(sizes)
    stream(root_seed, "splits", "templates").shuffle(names)
    held: set[str] = set()
    room = len(cases) - splits.sft - splits.pool
    while names and sum(sizes[name] for name in held) < splits.holdout:
        name = names.pop()
        if sizes[name] <= room:  # else the others could not fill sft and pool
            held.add(name)
            room -= sizes[name]
    if (found := sum(sizes[name] for name in held)) < splits.holdout:
        raise DataError(
            f"splits: {splits.holdout} cases of whole templates are to be held out; while {splits.sft + splits.pool} "
            f"stay for sft and pool, the {len(sizes)} templates give {found}; lower data.splits, give data.source more "
            "cases or more templates, or set holdout_by: cases"
        )
    return held


def draw(left: dict[Stratum, list[str]], name: str, size: int, root_seed: int, found: Division) -> None:
    """Take the split `name` out of `left`, with its share of every stratum. Raises DataError where too few are left."""
    counts = {stratum: len(ids) for stratum, ids in left.items()}
    enough(name, size, sum(counts.values()), found)
    offset = stream(root_seed, "splits", "offset", name).randrange(max(1, sum(counts.values())))
    seats = apportion(counts, size, offset)
    found.ids[name] = sorted(case for stratum, count in seats.items() for case in left[stratum][:count])
    for stratum, count in seats.items():
        del left[stratum][:count]


def leave_out(left: dict[Stratum, list[str]], name: str, near: Near, found: Division) -> None:
    """Take the cases that are too near to the split `name` out of `left`."""
    dropped = set(near(found.ids[name], [case for ids in left.values() for case in ids]))
    if dropped:
        found.dropped[name] = sorted(dropped)
    for ids in left.values():
        ids[:] = [case for case in ids if case not in dropped]


def enough(name: str, size: int, left: int, found: Division) -> None:
    """Refuse a split for which too few cases are left. Raises DataError, with what was left out as too near."""
    if left < size:
        dropped = [f"{len(ids)} are too near to a case of {other}" for other, ids in found.dropped.items()]
        why = f" ({', '.join(dropped)}: data.leakage.max_similarity)" if dropped else ""
        raise DataError(
            f"splits: {size} cases are needed for {name}, {left} are left{why}; "
            "give data.source more cases or lower data.splits"
        )


def shuffled_strata(cases: Sequence[Case], root_seed: int) -> dict[Stratum, list[str]]:
    """The case ids of each stratum in a seeded order, which depends on nothing but the stratum's own cases.

    Strata of one family stand together, inside them those of one difficulty and depth, and their templates in a seeded
    order.
    """
    strata: dict[Stratum, list[str]] = defaultdict(list)
    for case in cases:
        strata[case.family, case.difficulty, case.depth, case.template].append(case.case_id)
    places = {stratum: stream(root_seed, "splits", "order", *stratum).random() for stratum in strata}
    for stratum, ids in strata.items():
        ids.sort()
        stream(root_seed, "splits", *stratum).shuffle(ids)
    return {stratum: strata[stratum] for *_, stratum in sorted((*key[:3], places[key], key) for key in strata)}


def apportion(sizes: Mapping[Stratum, int], wanted: int, offset: int = 0) -> dict[Stratum, int]:
    """`wanted` seats over strata in proportion to their sizes, by systematic sampling in the order of `sizes`.

    Any run of neighbours, such as a family, gets its exact share rounded down or up, and so does each stratum: with far
    more strata than seats no kind of case is passed over, as it would be if each stratum were rounded by itself.
    wanted is at most the sum of sizes; offset, from 0 to below that sum, says where the first seat falls.
    """
    total, running = sum(sizes.values()), offset
    seats = {}
    for stratum, size in sizes.items():
        seats[stratum] = (running + size * wanted) // total - running // total if total else 0
        running += size * wanted
    return seats
