import json
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stats import evaluations

from tiebreak.errors import DataError
from tiebreak.stats.published import monte_carlo, table
from tiebreak.stats.published_layout import FILES, FOLDERS, find

COUNTS = Path(__file__).parents[3] / "shared" / "data" / "glyph" / "eval_counts"
published = pytest.mark.skipif(not COUNTS.is_dir(), reason="the published data (../shared/data) is absent")


def loop(differences, draws, seed):
    """The published test, as a loop over Python's generator."""
    rng = random.Random(seed)
    total = abs(sum(differences))
    hits = 0
    for _ in range(draws):
        hits += abs(sum(d if rng.random() < 0.5 else -d for d in differences)) >= total
    return hits / draws


@settings(max_examples=20)
@given(st.lists(st.integers(-8, 8), min_size=1, max_size=12), st.integers(0, 2**40))
def test_draws_are_those_of_the_published_loop(differences, seed):
    assert monte_carlo(np.array(differences), 300, seed) == loop(differences, 300, seed)


def dataset(folder, counts, *, evals=True):
    """A folder in the published layout: counts by (arm, place of the repetition)."""
    for (arm, place), valid in counts.items():
        inside = folder / FOLDERS[arm] / ("evals" if evals else "")
        evaluations.published(inside / f"{FILES[arm][place]}.json", valid, traces=f"{arm} {place}")
    return folder


SMALL = {
    ("sft", 0): [0, 2, 4, 8],
    ("sft", 1): [1, 2, 4, 8],
    ("sft", 2): [0, 3, 5, 8],
    ("dense", 0): [3, 2, 0, 8],
    ("dense", 1): [2, 4, 4, 8],
    ("dense", 2): [0, 3, 5, 8],
    ("sparse", 0): [0, 0, 0, 0],
}


@pytest.mark.parametrize("evals", [True, False])
def test_the_published_layout_is_found_and_its_pairs_computed(tmp_path, evals):
    found = table(dataset(tmp_path, SMALL, evals=evals))
    assert {arm: [row["solved"] for row in rows] for arm, rows in found["arms"].items()} == {
        "sft": [3, 4, 3],
        "sparse": [0],
        "dense": [3, 4, 3],
    }
    assert [(row["a"], row["b"], row["delta"], row["up"], row["down"]) for row in found["pairs"]] == [
        ("sft", "dense", 0, 1, 1),
        ("sft", "sparse", -3, 0, 3),
    ]
    assert found["pairs"][1]["ours"]["over_cases"]["p"] == 0.25
    assert found["pairs"][1]["theirs"]["p_cases"] == pytest.approx(0.25, abs=0.01)
    assert len(found["repetitions"]) == 6
    assert f"{FOLDERS['compiler']}/evals/passk8_heldout150.json" in found["missing"]


def test_pooled_rates_and_bands_are_those_of_the_published_analysis(tmp_path):
    found = table(dataset(tmp_path, SMALL))
    pooled = {row["b"]: row for row in found["pooled"]}
    sft, dense = (np.sum([SMALL[arm, place] for place in range(3)], axis=0) for arm in ("sft", "dense"))
    assert pooled["dense"]["delta"] == pytest.approx(np.mean((dense - sft) / 24))
    assert pooled["dense"]["theirs"]["draws"] == 20_000
    assert pooled["sparse"]["theirs"] is None, "their way knows three repetitions each"
    bands = {row["band"]: row for row in found["bands"][0]["bands"]}
    assert {name: row["cases"] for name, row in bands.items()} == {"never": 1, "low": 1, "middle": 1, "high": 1}
    rest = np.add(SMALL["sft", 1], SMALL["sft", 2]) / 16
    assert bands["never"]["delta"] == pytest.approx(dense[0] / 24 - rest[0])


@published
def test_two_published_repetitions_both_ways():
    found = table(COUNTS)
    assert found["clusters"]["count"] == 10
    (row,) = found["repetitions"]
    assert (row["delta"], row["up"], row["down"]) == (2, 7, 5)
    assert row["ours"]["over_cases"]["p"] == pytest.approx(0.7744, abs=5e-5)
    assert row["ours"]["over_clusters"]["p"] == 0.75
    for drawn, exact in (("p_cases", 0.7744), ("p_clusters", 0.75)):
        assert row["theirs"][drawn] == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 20_000))
    assert found["missing"] == []


@published
def test_as_two_arms_of_the_dataset_they_are_a_pair(tmp_path):
    """The published script's own p for these two repetitions, draw for draw."""
    places = {"sft": "sparse_run2", "dense": "sparse_run3"}
    for arm, name in places.items():
        path = tmp_path / FOLDERS[arm] / "evals" / f"{FILES[arm][0]}.json"
        path.parent.mkdir(parents=True)
        path.write_text((COUNTS / f"{name}.json").read_text())
    (row,) = table(tmp_path)["pairs"]
    assert (row["a"], row["b"], row["delta"], row["up"], row["down"]) == ("sft", "dense", 2, 7, 5)
    before, after = (
        {r["name"]: r["valid_solves"] for r in json.loads((COUNTS / f"{n}.json").read_text())} for n in places.values()
    )
    signed = [int(after[name] > 0) - int(before[name] > 0) for name in sorted(before)]
    assert row["theirs"]["p_cases"] == loop(signed, 20_000, 0)


def test_any_folder_of_such_files_is_read(tmp_path):
    for name in ("base_run1", "base_run2", "new-seedB", "deep/other"):
        evaluations.published(tmp_path / f"{name}.json", [1, len(name)], k=20)
    (tmp_path / "families.json").write_text('{"families": []}')
    found = table(tmp_path)
    assert {arm: [row["repetition"] for row in rows] for arm, rows in found["arms"].items()} == {
        "base": ["base_run1", "base_run2"],
        "deep/other": ["other"],
        "new": ["new-seedB"],
    }
    assert [(row["a"], row["b"]) for row in found["pairs"]] == [
        ("base", "deep/other"),
        ("base", "new"),
        ("deep/other", "new"),
    ]
    assert "counts only, no rollouts to look at again: base base_run1" in found["notes"][-1]


def test_folders_that_hold_nothing_to_compare_are_refused(tmp_path):
    with pytest.raises(DataError, match="no such folder"):
        find(tmp_path / "none")
    with pytest.raises(DataError, match="no evaluation below it"):
        find(tmp_path)
    evaluations.published(tmp_path / "a_run1.json", [1, 2])
    evaluations.published(tmp_path / "a_run2.json", [1, 2, 3])
    with pytest.raises(DataError, match="case case_002 is in only one of"):
        find(tmp_path)
    evaluations.published(tmp_path / "a_run2.json", [1, 2], k=4)
    with pytest.raises(DataError, match="k is 4, and 8 in"):
        find(tmp_path)
    for name in ("a_run1", "a_run2"):
        evaluations.published(tmp_path / f"{name}.json", [1, 2], traces="same")
    with pytest.raises(DataError, match="keep the same rollouts in every case"):
        find(tmp_path)
