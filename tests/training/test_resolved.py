"""A trainer's configuration in a record: what was changed, and nothing of the place where it ran."""

from pathlib import Path

from transformers import TrainingArguments

from tiebreak.training.resolved import keep_resolved, read_resolved


def test_what_differs_from_the_defaults_is_kept(tmp_path: Path) -> None:
    config = TrainingArguments(output_dir=str(tmp_path / "out"), learning_rate=0.25, max_steps=3, use_cpu=True)
    keep_resolved(config, tmp_path / "work")
    found = read_resolved(tmp_path / "work")["trainer"]
    assert found["class"] == "TrainingArguments" and found["learning_rate"] == 0.25 and found["max_steps"] == 3
    assert "weight_decay" not in found and str(tmp_path) not in str(found) and len(found) < 20


def test_another_trainer_left_nothing(tmp_path: Path) -> None:
    assert read_resolved(tmp_path) == {}
