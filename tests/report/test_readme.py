"""README's results are what its kept artifacts say."""

from pathlib import Path

import pytest

from tiebreak.errors import DataError
from tiebreak.report import readme

ROOT = Path(__file__).parents[2]


def test_the_result_block_is_rendered_from_the_kept_artifacts() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert text == readme.inserted(text, readme.kept(ROOT)), "run `python -m tiebreak.report.readme results/laptop`"


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


def test_a_readme_without_the_marks_is_refused() -> None:
    with pytest.raises(DataError, match="marks"):
        readme.inserted("# Title\n", {})
