"""Which cases training, RL and evaluation see: disjoint, of exact size, alike in family, difficulty and template."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from tiebreak.domains.base import Case
from tiebreak.errors import DataError
from tiebreak.sections.data import Splits
from tiebreak.seeds import stream

Stratum = tuple[str, str, str]


def split(cases: Sequence[Case], splits: Splits, root_seed: int) -> dict[str, list[str]]:
    """The case ids of the splits sft, pool and holdout, each sorted; the order of `cases` does not matter.

    By `cases`, every split has its share of each family, difficulty and template. By `templates`, whole templates are
    held out, and the cases of those that the holdout has no room for are in no split.
    Raises DataError where there are too few cases.
    """
    check(cases, splits)
    if splits.holdout_by == "templates":
        held = held_templates(cases, splits, root_seed)
        inside = [case for case in cases if case.template in held]
        rest = [case for case in cases if case.template not in held]
        ids = {"holdout": draw(inside, {"holdout": splits.holdout}, root_seed)["holdout"]}
        return draw(rest, {"sft": splits.sft, "pool": splits.pool}, root_seed) | ids
    return draw(cases, {"holdout": splits.holdout, "pool": splits.pool, "sft": splits.sft}, root_seed)


def check(cases: Sequence[Case], splits: Splits) -> None:
    """Refuse a case id that occurs twice, and too few cases."""
    ids = [case.case_id for case in cases]
    if len(set(ids)) < len(ids):
        twice = sorted({name for name in ids if ids.count(name) > 1})
        raise DataError(f"splits: {len(twice)} case ids occur twice, the first is {twice[0]}; ids must be unique")
    if len(ids) < splits.total:
        raise DataError(
            f"splits: {len(ids)} cases materialized, {splits.total} are needed "
            f"(sft {splits.sft}, pool {splits.pool}, holdout {splits.holdout}); "
            "raise data.source.generate.cases or lower data.splits"
        )


def held_templates(cases: Sequence[Case], splits: Splits, root_seed: int) -> set[str]:
    """Templates in a seeded order until they fill the holdout. Raises DataError where too few cases are left."""
    sizes: dict[str, int] = defaultdict(int)
    for case in cases:
        sizes[case.template] += 1
    names = sorted(sizes)
    stream(root_seed, "splits", "templates").shuffle(names)
    held: set[str] = set()
    while sum(sizes[name] for name in held) < splits.holdout:
        held.add(names.pop())
    left = len(cases) - sum(sizes[name] for name in held)
    if left < splits.sft + splits.pool:
        raise DataError(
            f"splits: holding out the templates {', '.join(sorted(held))} leaves {left} cases, "
            f"{splits.sft + splits.pool} are needed for sft and pool; raise data.source.generate.cases"
        )
    return held


def draw(cases: Sequence[Case], sizes: Mapping[str, int], root_seed: int) -> dict[str, list[str]]:
    """Splits of the given sizes, each with its share of every stratum, drawn one after the other."""
    left = shuffled_strata(cases, root_seed)
    chosen: dict[str, list[str]] = {}
    for name, size in sizes.items():
        counts = apportion({stratum: len(ids) for stratum, ids in left.items()}, size)
        chosen[name] = sorted(case for stratum, count in counts.items() for case in left[stratum][:count])
        left = {stratum: ids[counts[stratum] :] for stratum, ids in left.items()}
    return chosen


def shuffled_strata(cases: Sequence[Case], root_seed: int) -> dict[Stratum, list[str]]:
    """The case ids of each stratum in a seeded order, which depends on nothing but the stratum's own cases."""
    strata: dict[Stratum, list[str]] = defaultdict(list)
    for case in cases:
        strata[case.family, case.difficulty, case.template].append(case.case_id)
    for stratum, ids in strata.items():
        ids.sort()
        stream(root_seed, "splits", *stratum).shuffle(ids)
    return dict(sorted(strata.items()))


def apportion(sizes: Mapping[Stratum, int], wanted: int) -> dict[Stratum, int]:
    """`wanted` seats over strata in proportion to their sizes, by the largest remainder (Hamilton's method).

    Each stratum gets its exact share rounded down or up, never more than it has; `wanted` is at most the sum of sizes.
    """
    total = sum(sizes.values())
    shares = {stratum: divmod(size * wanted, total) for stratum, size in sizes.items()} if total else {}
    counts = {stratum: whole for stratum, (whole, _) in shares.items()}
    by_remainder = sorted(shares, key=lambda stratum: (-shares[stratum][1], stratum))
    for stratum in by_remainder[: wanted - sum(counts.values())]:
        counts[stratum] += 1
    return counts
