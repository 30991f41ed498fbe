from pathlib import Path

from tiebreak.archive import finished, keep, set_aside


def train(folder: Path, weights: str) -> list[Path]:
    """What a training leaves: a model folder and its steps."""
    (folder / "model").mkdir(parents=True, exist_ok=True)
    (folder / "model" / "weights").write_text(weights)
    (folder / "steps.jsonl").write_text("{}\n")
    return [folder / "model", folder / "steps.jsonl"]


def remove(folder: Path) -> None:
    """What Snakemake does to outputs before it makes them again."""
    (folder / "model" / "weights").unlink()
    (folder / "model").rmdir()
    (folder / "steps.jsonl").unlink()


def test_a_finished_training_survives_the_removal_of_its_outputs(tmp_path: Path) -> None:
    run, work = tmp_path / "run", tmp_path / "work"
    digest = keep(train(run, "first"), work)
    remove(run)
    moved = set_aside(work, run)
    assert moved == [run / "previous" / digest]
    assert (moved[0] / "model" / "weights").read_text() == "first"
    assert (moved[0] / "steps.jsonl").read_text() == "{}\n"
    assert finished(work) == []


def test_each_training_is_set_aside_under_its_own_digest_and_a_repeated_one_once(tmp_path: Path) -> None:
    run, work = tmp_path / "run", tmp_path / "work"
    digests = []
    for weights in ("first", "second", "first"):
        digests.append(keep(train(run, weights), work))
        remove(run)
        set_aside(work, run)
    assert digests[0] == digests[2] != digests[1]
    assert sorted(path.name for path in (run / "previous").iterdir()) == sorted(set(digests))


def test_keeping_the_same_training_twice_keeps_one(tmp_path: Path) -> None:
    outputs = train(tmp_path / "run", "first")
    assert keep(outputs, tmp_path / "work") == keep(outputs, tmp_path / "work")
    assert len(finished(tmp_path / "work")) == 1


def test_nothing_is_set_aside_where_nothing_is_kept(tmp_path: Path) -> None:
    assert set_aside(tmp_path / "work", tmp_path) == []
