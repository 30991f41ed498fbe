import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from math import ceil, floor
from random import Random
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tiebreak.digest import json_digest
from tiebreak.errors import DataError
from tiebreak.sections.data import Splits
from tiebreak.splits import Near, apportion, divide, split


@dataclass(frozen=True)
class Task:
    case_id: str
    family: str
    difficulty: str
    template: str
    depth: int = 1


KINDS = st.tuples(st.sampled_from("fg"), st.sampled_from("eh"), st.sampled_from("tuv"), st.integers(1, 2))


@st.composite
def tasks(draw: st.DrawFn) -> list[Task]:
    kinds = draw(st.lists(KINDS, min_size=3, max_size=60))
    return [Task(f"c{number}", *kind) for number, kind in enumerate(kinds)]


@st.composite
def sized(draw: st.DrawFn) -> tuple[list[Task], Splits]:
    cases = draw(tasks())
    cuts = sorted(draw(st.sets(st.integers(1, len(cases)), min_size=3, max_size=3)))
    return cases, Splits(sft=cuts[0], pool=cuts[1] - cuts[0], holdout=cuts[2] - cuts[1])


def stratum(case: Task) -> tuple[str, str, int, str]:
    return case.family, case.difficulty, case.depth, case.template


@given(sized(), st.integers(0, 2**40), st.randoms(use_true_random=False))
def test_splits_are_exact_disjoint_and_blind_to_the_order_of_cases(
    plan: tuple[list[Task], Splits], seed: int, order: Random
) -> None:
    cases, sizes = plan
    found = split(cases, sizes, seed)
    assert {name: len(ids) for name, ids in found.items()} == {
        "sft": sizes.sft,
        "pool": sizes.pool,
        "holdout": sizes.holdout,
    }
    everything = [name for ids in found.values() for name in ids]
    assert len(set(everything)) == len(everything) and set(everything) <= {case.case_id for case in cases}
    shuffled = list(cases)
    order.shuffle(shuffled)
    assert split(shuffled, sizes, seed) == found


@given(sized(), st.integers(0, 2**40))
def test_the_holdout_has_its_share_of_every_stratum(plan: tuple[list[Task], Splits], seed: int) -> None:
    cases, sizes = plan
    kinds = {case.case_id: stratum(case) for case in cases}
    held = Counter(kinds[name] for name in split(cases, sizes, seed)["holdout"])
    for kind, count in Counter(kinds.values()).items():
        share = count * sizes.holdout / len(cases)
        assert floor(share) <= held[kind] <= ceil(share)


@given(sized(), st.integers(0, 2**40))
def test_every_split_drawn_from_all_cases_has_its_share_of_every_family(
    plan: tuple[list[Task], Splits], seed: int
) -> None:
    cases, sizes = plan
    families = {case.case_id: case.family for case in cases}
    held = Counter(families[name] for name in split(cases, sizes, seed)["holdout"])
    for family, count in Counter(families.values()).items():
        share = count * sizes.holdout / len(cases)
        assert floor(share) <= held[family] <= ceil(share)


def test_a_small_holdout_of_many_strata_holds_every_family_and_difficulty() -> None:
    """The laptop's shape: rare families, 432 strata, 120 seats."""
    weights = {"patch": 20, "recover": 13, "run": 4, "test": 4}
    cases = [
        Task(f"{family}-{difficulty}-{template}-{number}", family, difficulty, f"t{template}")
        for family, weight in weights.items()
        for difficulty in ("easy", "hard", "medium")
        for template in range(24)
        for number in range(weight)
    ]
    found = split(cases, Splits(sft=1000, pool=100, holdout=82), 1)
    family, difficulty = ({case.case_id: getattr(case, name) for case in cases} for name in ("family", "difficulty"))
    held = Counter(family[name] for name in found["holdout"])
    assert held == {"patch": 40, "recover": 26, "run": 8, "test": 8}
    assert all(abs(count - 82 / 3) < 3 for count in Counter(difficulty[name] for name in found["holdout"]).values())


@given(
    st.dictionaries(st.tuples(st.text(), st.text(), st.integers(), st.text()), st.integers(0, 30), max_size=8),
    st.data(),
)
def test_apportioned_seats_add_up(counts: dict[tuple[str, str, int, str], int], data: st.DataObject) -> None:
    wanted = data.draw(st.integers(0, sum(counts.values())))
    seats = apportion(counts, wanted, data.draw(st.integers(0, max(0, sum(counts.values()) - 1))))
    assert sum(seats.values()) == wanted
    assert all(0 <= seats.get(kind, 0) <= count for kind, count in counts.items())


@settings(max_examples=50)
@given(st.integers(0, 2**40))
def test_held_out_templates_are_in_no_other_split(seed: int) -> None:
    cases = [Task(f"c{number}", "f", "easy", f"t{number % 8}") for number in range(80)]
    found = split(cases, Splits(sft=40, pool=10, holdout=15, holdout_by="templates"), seed)
    template = {case.case_id: case.template for case in cases}
    inside = {template[name] for name in found["holdout"]}
    outside = {template[name] for name in [*found["sft"], *found["pool"]]}
    assert not inside & outside
    assert [len(found[name]) for name in ("sft", "pool", "holdout")] == [40, 10, 15]


def too_near(distance: int) -> Near:
    """Cases c0, c1, …: those within `distance` of a drawn one are too near."""

    def near(drawn: Collection[str], left: Collection[str]) -> set[str]:
        places = [int(name[1:]) for name in drawn]
        return {name for name in left if any(abs(int(name[1:]) - place) <= distance for place in places)}

    return near


@settings(max_examples=50)
@given(st.integers(0, 2**40))
def test_a_template_that_leaves_too_little_is_passed_over(seed: int) -> None:
    cases = [Task(f"{name}-{n}", "f", "e", name) for name, size in (("large", 100), ("small", 12)) for n in range(size)]
    found = split(cases, Splits(sft=80, pool=10, holdout=10, holdout_by="templates"), seed)
    assert all(name.startswith("small") for name in found["holdout"])


@given(st.integers(0, 2**40), st.sampled_from(["cases", "templates"]), st.randoms(use_true_random=False))
def test_what_is_too_near_to_a_drawn_case_is_in_no_other_split(
    seed: int, by: Literal["cases", "templates"], order: Random
) -> None:
    cases = [Task(f"c{number}", "f", "easy", f"t{number % 8}") for number in range(400)]
    sizes = Splits(sft=150, pool=20, holdout=30, holdout_by=by)
    found = divide(cases, sizes, seed, too_near(1))
    assert [len(found.ids[name]) for name in ("sft", "pool", "holdout")] == [150, 20, 30]
    splits = {name: {int(case[1:]) for case in ids} for name, ids in found.ids.items()}
    for one, other in (("holdout", "pool"), ("holdout", "sft"), ("pool", "sft")):
        assert not any({place - 1, place, place + 1} & splits[other] for place in splits[one])
    assert found.dropped["holdout"] == sorted(found.dropped["holdout"]) and set(found.dropped) <= {"holdout", "pool"}
    assert not {case for ids in found.dropped.values() for case in ids} & {
        case for ids in found.ids.values() for case in ids
    }
    shuffled = list(cases)
    order.shuffle(shuffled)
    assert divide(shuffled, sizes, seed, too_near(1)) == found
    assert split(cases, sizes, seed)["holdout"] == found.ids["holdout"], (
        "the holdout is drawn before anything is left out"
    )


def test_too_few_cases_left_beside_the_near_ones_are_refused_with_their_number() -> None:
    cases = [Task(f"c{number}", "f", "easy", "t") for number in range(50)]
    with pytest.raises(DataError) as caught:
        divide(cases, Splits(sft=30, pool=5, holdout=10), 1, too_near(1))
    message = str(caught.value)
    assert re.search(r"30 cases are needed for sft, \d+ are left \(\d+ are too near to a case of holdout", message)
    assert message.endswith("data.leakage.max_similarity); give data.source more cases or lower data.splits")


def test_the_file_holds_the_splits_what_was_left_out_and_a_digest_of_the_splits() -> None:
    cases = [Task(f"c{number}", "f", "easy", "t") for number in range(50)]
    found = divide(cases, Splits(sft=10, pool=5, holdout=5), 1, too_near(1))
    plain = found.plain()
    assert set(plain) == {"sft", "pool", "holdout", "dropped", "digest"}
    assert plain["digest"] == json_digest({name: plain[name] for name in ("holdout", "pool", "sft")})
    assert plain["dropped"] == found.dropped and found.dropped["holdout"]


def test_another_seed_gives_another_split() -> None:
    cases = [Task(f"c{number}", "f", "easy", "t") for number in range(50)]
    sizes = Splits(sft=30, pool=10, holdout=10)
    assert split(cases, sizes, 1) != split(cases, sizes, 2)


def test_too_few_cases_are_refused() -> None:
    cases = [Task(f"c{number}", "f", "easy", "t") for number in range(5)]
    with pytest.raises(DataError, match="5 cases materialized, 6 are needed"):
        split(cases, Splits(sft=3, pool=2, holdout=1), 1)
    with pytest.raises(DataError, match="while 2 stay for sft and pool, the 1 templates give 0"):
        split(cases, Splits(sft=1, pool=1, holdout=1, holdout_by="templates"), 1)


def test_a_repeated_id_is_refused() -> None:
    with pytest.raises(DataError, match="case ids occur twice, the first is c"):
        split([Task("c", "f", "easy", "t")] * 3, Splits(sft=1, pool=1, holdout=1), 1)
