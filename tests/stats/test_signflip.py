import json
import math
import re
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiebreak.errors import DataError
from tiebreak.stats.signflip import cluster_sums, listed_p, rate_differences, sign_flip, sign_flip_p

GLYPH = Path(__file__).parents[3] / "shared" / "data" / "glyph"
published = pytest.mark.skipif(not GLYPH.is_dir(), reason=f"the published data is not here: {GLYPH}")


def enumerated(differences):
    """The same p by listing all 2^n sign assignments, as an exact fraction."""
    total = abs(sum(differences))
    hits = sum(
        abs(sum(sign * d for sign, d in zip(signs, differences, strict=True))) >= total
        for signs in product((1, -1), repeat=len(differences))
    )
    return Fraction(hits, 2 ** len(differences))


@given(st.lists(st.integers(-8, 8), min_size=1, max_size=10))
def test_equals_the_enumeration(differences):
    assert sign_flip_p(differences) == pytest.approx(float(enumerated(differences)), rel=1e-12)


@given(st.lists(st.integers(-8, 8), min_size=1, max_size=30), st.randoms(use_true_random=False))
def test_knows_no_order_no_zeros_and_no_direction(differences, random):
    p = sign_flip_p(differences)
    shuffled = [*differences, 0, 0]
    random.shuffle(shuffled)
    assert sign_flip_p(shuffled) == p
    assert sign_flip_p([-d for d in differences]) == p


def test_single_direction_reaches_the_smallest_p():
    result = sign_flip([1, 2, 3, 0])
    assert (result.p, result.smallest_p, result.moved, result.up, result.down) == (0.25, 0.25, 3, 3, 0)
    assert sign_flip([0, 0]).p == 1.0


def test_stays_precise_where_floats_are_small_and_bounds_where_they_end():
    small = sign_flip([1] * 1000)
    assert small.p == pytest.approx(math.ldexp(1.0, -999), rel=1e-9)
    assert not small.bound
    gone = sign_flip([1] * 1200)
    assert gone.bound
    assert gone.p > 0


def test_ten_thousand_cases_agree_with_the_normal_limit():
    differences = np.random.default_rng(1).integers(-8, 9, 10_000)
    z = (abs(int(differences.sum())) - 0.5) / math.sqrt(float((differences**2).sum()))
    assert sign_flip(differences).p == pytest.approx(math.erfc(z / math.sqrt(2)), abs=2e-3)


def test_draws_are_seeded_and_agree_with_the_exact_value():
    differences = [3, -1, 2, 2, -4, 5, 1, -1, 2, 3] * 3
    drawn = sign_flip(differences, seed=4, budget=0)
    assert not drawn.exact
    assert drawn == sign_flip(differences, seed=4, budget=0)
    assert drawn.error is not None
    assert abs(drawn.p - sign_flip_p(differences)) < 5 * drawn.error


@given(st.lists(st.integers(-9, 9), max_size=10))
def test_listing_and_convolution_agree(differences):
    array = np.array(differences, dtype=np.int64)
    assert listed_p(array) == pytest.approx(sign_flip_p(array), rel=1e-12)


def test_few_large_differences_are_listed_exactly_and_take_no_memory():
    found = sign_flip([10**12, -(10**12 - 1), 7, 3])
    assert found.exact and found.p == 10 / 16
    clusters = sign_flip([40 * 150 * 10**6 + number for number in range(5)], budget=10)
    assert (clusters.exact, clusters.p) == (True, 2 / 32)


def test_refuses_fractions():
    with pytest.raises(DataError, match="integers"):
        sign_flip_p([0.5, 1.0])


def test_rates_of_unequal_sizes_come_to_one_scale():
    # 12/24 → 5/8 is +3/24, 6/24 → 1/8 is −3/24, 0 → 1/8 is +3/24
    assert rate_differences([12, 6, 0], [24, 24, 24], [5, 1, 1], [8, 8, 8]).tolist() == [1, -1, 1]


def test_rates_without_a_common_scale_are_rounded_finely():
    sizes = [41, 43, 47, 53, 59, 61, 67, 71, 73]
    signed = rate_differences([1] * 9, sizes, [2] * 9, sizes)
    expected = np.array([1 / n for n in sizes])
    assert signed / signed.sum() == pytest.approx(expected / expected.sum(), rel=1e-4)


def test_a_case_without_samples_is_refused():
    with pytest.raises(DataError, match="without a single sample"):
        rate_differences([0], [0], [1], [8])


def test_cluster_sums_flip_together():
    assert cluster_sums([1, -1, 2, 3], ["a", "a", "b", "a"]).tolist() == [3, 2]
    with pytest.raises(DataError, match="one each"):
        cluster_sums([1, 2], ["a"])


@pytest.fixture(scope="module")
def repetitions():
    """The two published repetitions of one adapter, in the order of the names."""
    rows = [
        {row["name"]: row for row in json.loads((GLYPH / "eval_counts" / f"sparse_run{n}.json").read_text())}
        for n in (2, 3)
    ]
    names = sorted(rows[0])
    families = json.loads((GLYPH / "name_families.json").read_text())["families"]
    clusters = [next((family for family, words in families if re.search(words, name)), name) for name in names]
    return [[row[name]["valid_solves"] for name in names] for row in rows], clusters


@published
def test_published_repetitions_over_cases_and_clusters(repetitions):
    (before, after), clusters = repetitions
    signed = [int(b > 0) - int(a > 0) for a, b in zip(before, after, strict=True)]
    over_cases = sign_flip(signed)
    assert (sum(signed), over_cases.up, over_cases.down, over_cases.units) == (2, 7, 5, 150)
    assert over_cases.p == pytest.approx(0.7744, abs=5e-5)
    over_clusters = sign_flip(cluster_sums(signed, clusters))
    assert (over_clusters.units, over_clusters.p) == (10, 0.75)


@published
def test_published_repetitions_by_pass_at_1(repetitions):
    (before, after), _ = repetitions
    signed = rate_differences(before, [8] * 150, after, [8] * 150)
    assert sum(signed) / (8 * 150) == pytest.approx(-0.0058, abs=5e-5)
    assert sign_flip(signed).p == pytest.approx(0.6486, abs=5e-5)
