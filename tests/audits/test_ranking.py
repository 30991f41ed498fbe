import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu, somersd

from tiebreak.audits.ranking import PAIRS, pairs_by_group, ranking, somers_d
from tiebreak.audits.stored import PLACE

ROLLOUT = [*PLACE, "arm", "template", "stop", "graded"]
LEVELS = st.sampled_from([-5.0, -1.0, -0.5, 0.0, 0.5, 10.0])
GROUP = st.lists(st.tuples(LEVELS, st.booleans()), min_size=1, max_size=12)


def test_pairs_by_hand() -> None:
    groups = [0, 0, 0, 1, 1, 2, 2, 2]
    rewards = [10.0, -1.0, -2.0, 1.0, 2.0, 0.0, 1e-12, -1.0]
    graded = [True, False, False, True, True, True, False, False]
    found = pairs_by_group(groups, rewards, graded)
    assert found[PAIRS].to_numpy().tolist() == [[2, 2, 0, 0], [0, 0, 0, 0], [2, 1, 1, 0]]


@given(st.lists(GROUP, min_size=1, max_size=6), st.randoms())
def test_pairs_are_those_that_a_double_loop_counts(groups, random) -> None:
    rows = [(number, reward, good) for number, group in enumerate(groups) for reward, good in group]
    random.shuffle(rows)
    found = pairs_by_group(*map(list, zip(*rows, strict=True)))
    for number, group in enumerate(groups):
        good, bad = [r for r, g in group if g], [r for r, g in group if not g]
        right, inverted = sum(a > b for a in good for b in bad), sum(a < b for a in good for b in bad)
        wanted = [len(good) * len(bad), right, len(good) * len(bad) - right - inverted, inverted]
        assert found.iloc[number][PAIRS].tolist() == wanted


@given(GROUP.filter(lambda group: len({good for _, good in group}) == 2))
def test_d_and_auc_are_scipys(group) -> None:
    rewards, graded = (np.array(part) for part in zip(*group, strict=True))
    table = pairs_by_group(np.zeros(len(group), int), rewards, graded)
    ours = float(somers_d(table).iloc[0])
    auc = mannwhitneyu(rewards[graded], rewards[~graded]).statistic / table["pairs"].iloc[0]
    assert (ours + 1) / 2 == pytest.approx(auc)
    if len(set(rewards)) > 1:  # scipy wants a table of at least two columns
        assert ours == pytest.approx(somersd(graded.astype(int), rewards).statistic)


def rollouts(rewards, graded, *, arm="dense", source="evaluation", templates=4, k=4) -> pd.DataFrame:
    """A study's rollouts: groups of k, one case each, templates in turn."""
    count = len(rewards)
    case = [f"case{number // k}" for number in range(count)]
    return pd.DataFrame(
        {
            "source": source,
            "arm": arm,
            "run": f"{arm}-seed0",
            "repetition": 0.0,
            "step": np.nan,
            "group": np.nan,
            "case_id": case,
            "template": [f"t{number // k % templates}" for number in range(count)],
            "sample": [number % k for number in range(count)],
            "stop": "final",
            "graded": graded,
            "reward": rewards,
            "reward.dense": rewards,
            "reward.sparse": 0.0,
        }
    )


def test_a_perfect_and_a_constant_reward() -> None:
    graded = [True, False, True, False] * 8
    frame = rollouts([10.0 if good else -1.0 for good in graded], graded)
    found = ranking(frame, ["dense", "sparse"], seed=1, draws=200).set_index(["arm", "shape"])
    own, other = found.loc[("dense", "dense")], found.loc[("dense", "sparse")]
    assert (own["own"], own["groups"], own["mixed"], own["pairs"], own["right"]) == (True, 8, 8, 32, 32)
    assert (own["somers_d"], own["low"], own["high"], own["auc"], own["templates"]) == (1.0, 1.0, 1.0, 1.0, 4)
    assert (other["own"], other["tied"], other["somers_d"], other["auc"]) == (False, 32, 0.0, 0.5)
    assert found.loc[("(all)", "dense")]["right"] == 32


def test_groups_of_one_grade_say_nothing() -> None:
    found = ranking(rollouts([1.0, 2.0, 3.0, 4.0], [False] * 4), ["dense"], seed=1, draws=200)
    assert found["mixed"].tolist() == [0, 0] and found["somers_d"].isna().all()


def test_errors_are_no_pair_and_a_seed_repeats() -> None:
    frame = rollouts([1.0, 2.0, 0.0, 5.0] * 6, [True, False, False, True] * 6)
    frame.loc[3, "stop"] = "error"
    found = ranking(frame, ["dense"], seed=3, draws=200)
    assert found["pairs"].tolist() == [22, 22]
    assert found.equals(ranking(frame, ["dense"], seed=3, draws=200))


def test_training_has_its_own_reward_alone() -> None:
    frame = rollouts([1.0, 2.0, 0.0, 5.0], [True, False, False, True], source="training")
    frame = frame.assign(step=1.0, group=0.0)
    frame[["reward.dense", "reward.sparse"]] = np.nan
    found = ranking(frame, ["dense", "sparse"], seed=3, draws=200)
    assert found[["arm", "shape", "own", "pairs"]].to_numpy().tolist() == [["dense", "dense", True, 4]]
    assert found.equals(ranking(frame[[*ROLLOUT, "reward"]], ["dense", "sparse"], seed=3, draws=200))
