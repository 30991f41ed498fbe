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
        counts = {stratum: len(ids) for stratum, ids in left.items()}
        offset = stream(root_seed, "splits", "offset", name).randrange(max(1, sum(counts.values())))
        seats = apportion(counts, size, offset)
        chosen[name] = sorted(case for stratum, count in seats.items() for case in left[stratum][:count])
        left = {stratum: ids[seats[stratum] :] for stratum, ids in left.items()}
    return chosen


def shuffled_strata(cases: Sequence[Case], root_seed: int) -> dict[Stratum, list[str]]:
    """The case ids of each stratum in a seeded order, which depends on nothing but the stratum's own cases.

    Strata of one family stand together, inside them those of one difficulty, and their templates in a seeded order.
    """
    strata: dict[Stratum, list[str]] = defaultdict(list)
    for case in cases:
        strata[case.family, case.difficulty, case.template].append(case.case_id)
    places = {stratum: stream(root_seed, "splits", "order", *stratum).random() for stratum in strata}
    for stratum, ids in strata.items():
        ids.sort()
        stream(root_seed, "splits", *stratum).shuffle(ids)
    return {stratum: strata[stratum] for *_, stratum in sorted((*key[:2], places[key], key) for key in strata)}


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
