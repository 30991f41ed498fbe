import json
from pathlib import Path

import pytest

from tiebreak.audits.prime_rl import by_step, differing, read_orchestrator
from tiebreak.errors import DataError

GLYPH = Path(__file__).parents[3] / "shared" / "data" / "glyph"
needs_data = pytest.mark.skipif(not GLYPH.exists(), reason="the published study's data is not here")
HEAD = "step,batch,dropped_total,dropped_zero_advantage,training_examples\n"


@needs_data
@pytest.mark.parametrize(
    ("arm", "steps", "dropped", "zero_advantage", "kept", "examples", "differ"),
    [("sparse", 30, 64, 64, 32, 32, 22), ("dense", 12, 79, 78, 17, 17, 10)],
)
def test_the_published_logs(arm, steps, dropped, zero_advantage, kept, examples, differ) -> None:
    frame = read_orchestrator(GLYPH / f"orchestrator_{arm}.csv")
    first = frame.iloc[0]
    assert (len(frame), first["batch"], first["dropped_total"]) == (steps, 96, dropped)
    assert (first["dropped_zero_advantage"], first["kept"]) == (zero_advantage, kept)
    assert first["training_examples"] == examples
    assert (frame["kept"] == frame["batch"] - frame["dropped_total"]).all()
    assert differing(frame) == differ


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ("0,96,97,97,0", "line 2: more rollouts are dropped than the batch has"),
        ("0,96,8,8,88\n0,96,8,8,88", "line 3: the step stands twice"),
        ("0,96,8,9,88", "line 2: the drops by reason are more than all"),
        ("0,0,0,0,0", "line 2: the batch is empty"),
        ("0,96,8.5,8,88", "line 2: dropped_total is"),
        ("0,96,,8,88", "line 2: dropped_total is nan"),
        ("0,96,many,8,88", "line 2: dropped_total is many; a count is expected"),
        ("0,96,-1,0,88", "line 2: dropped_total is"),
    ],
)
def test_impossible_facts_are_refused(tmp_path: Path, rows: str, reason: str) -> None:
    path = tmp_path / "log.csv"
    path.write_text(HEAD + rows + "\n")
    with pytest.raises(DataError, match=reason):
        read_orchestrator(path)


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match="no column 'step'; it has a, b"):
        read_orchestrator(path)
    path.write_text("")
    with pytest.raises(DataError, match="cannot be read as CSV"):
        read_orchestrator(path)


def saved(example: int, reward: float, filtered: bool = False) -> str:
    """A line as prime-rl saves it (the fields that are read, and some that are not)."""
    row = {"env_name": "glyph", "example_id": example, "reward": reward, "advantage": 0.0, "is_filtered": filtered}
    return json.dumps(row | {"filters": {"zero_advantage": filtered}, "metrics": {}})


def test_saved_rollouts_by_step(tmp_path: Path) -> None:
    steps = {
        10: [saved(1, 1.0), saved(1, 2.0), saved(2, -1.0, True), saved(2, -1.0, True)],
        2: [saved(7, 0.0, True), saved(7, 0.0, True)],
    }
    for step, lines in steps.items():
        path = tmp_path / "run_default" / "rollouts" / f"step_{step}" / "train_rollouts.jsonl"
        path.parent.mkdir(parents=True)
        path.write_text("\n".join(lines) + "\n")
    found = by_step(tmp_path)
    assert found[["step", "rollouts", "filtered", "kept", "groups", "tied"]].to_numpy().tolist() == [
        [2, 2, 2, 0, 1, 1],
        [10, 4, 2, 2, 2, 1],
    ]
    assert found["tied_fraction"].tolist() == [1.0, 0.5]
    assert by_step(tmp_path / "run_default").equals(found)


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "step_0" / "train_rollouts.jsonl"
    path.parent.mkdir()
    path.write_text(saved(1, 1.0) + '\n{"reward": 1}\n')
    with pytest.raises(DataError, match="line 2: no saved rollout"):
        by_step(tmp_path)
    with pytest.raises(DataError, match="name a run's output folder"):
        by_step(tmp_path / "step_0")
