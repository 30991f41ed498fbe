"""Recorded episodes: of a study's tables, of a file, and what is neither."""

import json
from pathlib import Path
from typing import Any

import pytest

from tiebreak.domains.fathom import recorded
from tiebreak.domains.fathom.domain import FACTS
from tiebreak.domains.rust.domain import FACTS as RUST_FACTS
from tiebreak.errors import DataError
from tiebreak.paths import Paths
from tiebreak.tables import rollouts, write_table


def row(case: int, sample: int, answer: str | None, gold: str = "blue") -> dict[str, Any]:
    facts = {"answer": answer, "gold_answer": gold, "calls": 1, "refused": 0, "depth": 1, "prompt_tokens": 100}
    facts |= {"completion_tokens": 20, "blocks": [{"ok": True, "cut": False, "ended": None}]}
    turns = [("user", "q"), ("assistant", "<b>x</b>")]
    return {
        "case_id": f"niah_{case}", "family": "niah", "difficulty": "easy", "template": "code", "arm": "v3",
        "training_seed": 0, "repetition": 0, "sample": sample, "root_seed": 1,
        "turns": [{"role": role, "content": text, "tokens": 1, "sampling_seed": None} for role, text in turns],
        "stop": "final", "valid": answer is not None, "success": answer == gold, "graded": answer == gold,
        "facts": facts, "rewards": [("v3", 0.5)], "new_tokens": 20, "truncated": False,
    }  # fmt: skip


@pytest.fixture
def study(tmp_path: Path) -> Path:
    paths = Paths("mine", tmp_path)
    answers = ["blue", "red", None, "blue", "blue", None, None]
    rows = [row(number // 2, number % 2, answer) for number, answer in enumerate(answers)]
    write_table(paths.rollouts("v3-seed0", 0), rows, rollouts(FACTS))
    write_table(paths.rollouts("v3-seed0", 1), [row(9, 9, "other repetition")], rollouts(FACTS))
    paths.records.mkdir()
    (paths.records / "evaluation-0-v3-seed0.json").write_text(json.dumps({"git": {"commit": "abc", "dirty": True}}))
    return tmp_path / "mine"


def test_the_first_of_each_outcome_is_shown_with_its_share(study: Path) -> None:
    found = recorded.load(study)
    assert "the study mine" in found["about"]
    shown = [(one["source"]["case"], one["source"]["sample"], one["correct"]) for one in found["episodes"]]
    assert shown == [
        ("niah_0", 0, True),
        ("niah_0", 1, False),
        ("niah_1", 0, False),
        ("niah_1", 1, True),
        ("niah_2", 1, False),
    ]
    assert [one["label"].partition("; ")[2] for one in found["episodes"]][:3] == [
        "right, as 3 of 7 episodes of this run",
        "wrong, as 1 of 7 episodes of this run",
        "no answer, as 3 of 7 episodes of this run",
    ]
    first = found["episodes"][0]
    address = {"study": "mine", "run": "v3-seed0", "repetition": 0, "case": "niah_0", "sample": 0}
    assert first["source"] == address | {"commit": "abc", "dirty": True}
    assert first["rewards"] == {"v1_gate": 1.0, "v2_soft": 1.1, "v3_recursion": pytest.approx(1.0625)}
    assert first["tree"] is None and first["turns"][1] == {"role": "assistant", "content": "<b>x</b>"}


def test_what_was_kept_is_what_is_loaded(study: Path, tmp_path: Path) -> None:
    found = recorded.load(study)
    recorded.save(tmp_path / "deep" / "kept.json", found)
    assert recorded.load(tmp_path / "deep" / "kept.json") == found


def test_without_a_record_the_commit_is_unknown(study: Path) -> None:
    (study / "records" / "evaluation-0-v3-seed0.json").unlink()
    assert recorded.load(study)["episodes"][0]["source"]["commit"] is None


def test_the_file_that_is_checked_in_says_what_made_it() -> None:
    found = recorded.load()
    assert found["episodes"] and "No language model" in found["about"]
    assert all(one["source"]["commit"] and one["source"]["script"] for one in found["episodes"])


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"about": "x", "episodes": [{}]}', "\xff"])
def test_a_file_without_episodes_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(DataError, match=f"{path}: holds no recorded episodes"):
        recorded.load(path)


def test_a_folder_that_is_no_fathom_study_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no evaluation with episodes in it"):
        recorded.load(tmp_path)
    with pytest.raises(DataError, match="holds no recorded episodes"):
        recorded.load(tmp_path / "none")
    facts = {"compiled": True, "phase": 4, "tests_passed": 1, "tests_total": 1, "tampered": [], "calls": []}
    write_table(Paths("rusty", tmp_path).rollouts("sft", 0), [row(1, 1, None) | {"facts": facts}], rollouts(RUST_FACTS))
    with pytest.raises(DataError, match="of another domain than fathom"):
        recorded.load(tmp_path / "rusty")
