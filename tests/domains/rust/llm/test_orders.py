"""Orders: every kind its share, from named seeds, and more of them change none."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from tiebreak.domains.rust.llm.orders import CATEGORIES, kinds, orders

FAMILIES = ["patch_test_pass", "patch_run_recover", "test_only"]
LEVELS = ["easy", "hard"]


@given(st.integers(1, 150), st.integers(1, 150), st.integers(0, 5))
def test_more_cases_are_the_same_orders_and_further_ones(few: int, more: int, seed: int) -> None:
    found = orders(FAMILIES, list(CATEGORIES), LEVELS, few + more, seed)
    assert found[:few] == orders(FAMILIES, list(CATEGORIES), LEVELS, few, seed)
    assert len({order.custom_id for order in found}) == len({order.seed for order in found}) == few + more


def test_every_kind_has_its_share_and_what_is_not_to_repair_compiles() -> None:
    every = kinds(FAMILIES, list(CATEGORIES), LEVELS)
    assert len(every) == 2 * 11 * 2 + 8 * 2
    found = Counter(
        (order.family, order.category, order.difficulty)
        for order in orders(FAMILIES, list(CATEGORIES), LEVELS, 2 * len(every), 1)
    )
    assert found == dict.fromkeys(every, 2)
    assert not any(kind[0] == "test_only" and kind[1].startswith("compiler") for kind in every)


def test_another_root_seed_gives_other_orders() -> None:
    one, other = (orders(FAMILIES, list(CATEGORIES), LEVELS, 20, seed) for seed in (1, 2))
    assert {order.seed for order in one}.isdisjoint(order.seed for order in other)
    assert [order.family for order in one] != [order.family for order in other]


def test_only_recover_families_fail_first() -> None:
    found = orders(FAMILIES, list(CATEGORIES), LEVELS, 60, 1)
    assert all((order.failures > 0) == order.family.endswith("recover") for order in found)
    assert {order.failures for order in found} == {0, 1, 2, 3}
    assert all(order.tools.count(order.cargo_tool) == order.failures + 1 for order in found)
