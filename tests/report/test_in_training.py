"""The paragraph on training, from records that the real groups' code writes, against plain counts."""

import json
from dataclasses import asdict
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tiebreak import gates
from tiebreak.report import in_training as module
from tiebreak.report.wording import environment


def group(step, rewards, *, terms=None, stop="final", calls=None):
    """A record as `training.groups` writes it; terms: those of each rollout."""
    size = len(rewards)
    turns = [{"role": "system"}, {"role": "user"}, {"role": "assistant"}, {"role": "tool"}, {"role": "assistant"}]
    scored = [reward for reward in rewards if reward is not None]
    return {
        "step": step,
        "rewards": rewards,
        "terms": terms or [{"correctness": reward or 0.0, "recursion": 0.05} for reward in rewards],
        "tied": not scored or max(scored) - min(scored) < 1e-9,
        "stop": [stop] * size,
        "valid": [True] * size,
        "success": [reward == 1.0 for reward in rewards],
        "graded": [reward == 1.0 for reward in rewards],
        "new_tokens": [10] * size,
        "turns": [turns] * size,
    } | ({} if calls is None else {"calls": calls})


WENT_ON = asdict(gates.trial("a-seed0", 1, 4, max_tied=0.9))


def in_training(groups):
    """The sentences, of runs that went on after their trial."""
    return module.in_training(groups, dict.fromkeys(groups, WENT_ON))


def test_an_arm_in_four_sentences() -> None:
    runs = {
        "v3-seed0": [group(1, [1.0, 0.0], calls=[1, 2]), group(1, [0.0, 0.0], calls=[0, 0])],
        "v3-seed1": [group(1, [0.0, 0.0], stop="budget", calls=[4, 5])],
    }
    ties, rewards, terms, rollouts = in_training(runs)["v3"]
    assert ties == (
        "2 runs sampled 3 groups in 2 steps: 2 tied, a fraction of 0.667 (0.208 to 0.939), and 4 of 6 rollouts were "
        "dropped with them; 1 of 2 steps had no other group and changed nothing."
    )
    assert rewards == "Rewards ran from 0 to 1 with a mean of 0.167."
    assert terms == (
        "By component, with the mean and the groups of 3 in which it differed: correctness +0.167 (1); never "
        "different, so that nothing was learned from them: recursion."
    )
    assert rollouts == (
        "A rollout took 2.00 turns of the model, 1.00 replies of tools, 2.00 calls and 10 new tokens on average; they "
        "ended as final 66.7%, budget 33.3%; valid 1.000, success 0.167, graded 0.167."
    )


def test_the_flat_line_of_the_original_study() -> None:
    said = in_training({"v1_gate-seed0": [group(step, [0.0] * 4, terms=[{"cap": 0.0}] * 4) for step in (1, 2)]})
    ties, rewards, terms, rollouts = said["v1_gate"]
    assert "2 tied" in ties and "8 of 8 rollouts were dropped" in ties and "2 of 2 steps had no other group" in ties
    assert rewards == "Every reward was 0."
    assert terms == "No component differed inside a group (cap), so nothing was to learn."
    assert "calls" not in rollouts  # records without them say nothing of them


def test_an_arm_that_never_trained_says_so() -> None:
    assert in_training({"dense-seed0": []}) == {
        "dense": ["No group was sampled: a gate stopped the arm before its trial."]
    }


def test_runs_that_gave_up_are_not_said_to_have_had_no_trial() -> None:
    tied = asdict(gates.trial_that_tied("a-seed0", "prime-rl gave the training up", max_tied=0.9))
    (said,) = module.in_training({"a-seed0": []}, {"a-seed0": tied})["a"]
    assert said == (
        "1 run gave up in the trial because every group of the batch tied; such batches are not counted here."
    )
    groups = {"a-seed0": [], "a-seed1": [group(1, [0.0, 1.0])]}
    *counted, last = module.in_training(groups, {"a-seed0": tied, "a-seed1": WENT_ON})["a"]
    assert counted[0].startswith("1 run sampled 1 group") and last == said


def test_errors_are_no_rewards() -> None:
    said = in_training({"a-seed0": [group(1, [None, None], stop="error")], "b-seed0": [group(1, [None, 1.0])]})
    assert "No rollout was scored: all ended in an infrastructure error." in said["a"]
    assert "Every reward was 1." in said["b"]


rewards_of_groups = st.lists(
    st.lists(st.sampled_from([0.0, 0.25, 1.0]), min_size=2, max_size=4), min_size=1, max_size=9
)


@given(rewards_of_groups)
def test_counts_are_plain_counts(groups: list[list[float]]) -> None:
    said = " ".join(in_training({"a-seed0": [group(n // 2, rewards) for n, rewards in enumerate(groups)]})["a"])
    tied = [len(set(rewards)) == 1 for rewards in groups]
    dropped = sum(len(rewards) for rewards, mark in zip(groups, tied, strict=True) if mark)
    assert f"sampled {len(groups)} group" in said and f": {sum(tied)} tied" in said
    assert f"{dropped} of {sum(map(len, groups))} rollouts were dropped" in said


def test_files_are_read_and_the_page_escapes_what_they_say(tmp_path: Path) -> None:
    path = tmp_path / "groups.jsonl"
    path.write_text(json.dumps(group(1, [0.0, 1.0], stop="<b>")) + "\n")
    said = module.of_files(["dense-seed0"], [path], {"dense-seed0": WENT_ON})
    assert said == in_training({"dense-seed0": [group(1, [0.0, 1.0], stop="<b>")]})
    shown = environment().get_template("training.html.j2").render(figures={}, training=[], in_training=said)
    assert "<strong>dense.</strong> 1 run sampled 1 group " in shown and "&lt;b&gt; 100.0%" in shown
