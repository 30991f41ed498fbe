"""README's results are what its kept artifacts say."""

import json
from pathlib import Path

import pytest

from tiebreak.errors import DataError
from tiebreak.report import readme

ROOT = Path(__file__).parents[2]


def test_the_result_block_is_rendered_from_the_kept_artifacts() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    analysis = json.loads((ROOT / readme.KEPT / readme.ANALYSIS).read_text(encoding="utf-8"))
    assert text == readme.inserted(text, analysis), "run `./dev python -m tiebreak.report.readme results/laptop`"
    assert (ROOT / readme.KEPT / readme.FIGURE).stat().st_size > 0


def test_another_number_renders_another_block() -> None:
    analysis = json.loads((ROOT / readme.KEPT / readme.ANALYSIS).read_text(encoding="utf-8"))
    before = readme.block(analysis)
    analysis["arms"]["sft"]["pass_at_1"]["value"] += 0.111
    assert readme.block(analysis) != before


def test_a_readme_without_the_marks_is_refused() -> None:
    with pytest.raises(DataError, match="marks"):
        readme.inserted("# Title\n", {})
