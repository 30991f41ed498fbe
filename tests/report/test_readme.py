"""README's results are what its kept artifacts say."""

from pathlib import Path

import pytest

from tiebreak.errors import DataError
from tiebreak.report import readme


def test_another_number_renders_another_block(tmp_path: Path) -> None:
    arm = {"pass_at_1": rate(0.25), "families": {"patch": {"pass_at_1": rate(0.125), "pass_at_k": rate(0.5)}}}
    analysis = {
        "statements": [{"about": "recipe", "text": "No claim."}, {"about": "noise", "text": "left out"}],
        "settings": {"alpha": 0.05, "cluster": "template", "k": 8, "arms": ["dense"]},
        "sizes": {"rollouts": 3072, "cases": 128, "runs": 2, "repetitions": 3},
        "learning": {"arms": {"dense": {"prompts": 64, "gain": rate(0.0625)}}},
        "recipe": {"run_means": {"sft": [0.25], "dense": [0.25]}},
        "arms": {"sft": arm, "dense": arm},
    }
    text = readme.block(analysis)
    assert "> No claim." in text and "left out" not in text
    assert "| dense | 1 | 0.250 (0.150 to 0.350) | 0.125 (0.025 to 0.225) |" in text
    analysis["arms"] = analysis["arms"] | {"dense": arm | {"pass_at_1": rate(0.251)}}
    assert "| dense | 1 | 0.251 (0.151 to 0.351) |" in readme.block(analysis)


def rate(value: float) -> dict[str, float]:
    return {"value": value, "low": value - 0.1, "high": value + 0.1}


def test_a_study_without_its_artifacts_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"analysis\.json: is not there; name the folder of a finished study"):
        readme.keep(tmp_path / "results", tmp_path)


def test_kept_artifacts_are_those_of_the_study(tmp_path: Path) -> None:
    for part in ("stats/analysis.json", "report/figures/forest.svg"):
        (tmp_path / "study" / part).parent.mkdir(parents=True)
        (tmp_path / "study" / part).write_text(part)
    readme.keep(tmp_path / "study", tmp_path)
    assert (tmp_path / "docs/laptop/forest.svg").read_text() == "report/figures/forest.svg"
    assert (tmp_path / "docs/laptop/analysis.json").read_text() == "stats/analysis.json"
