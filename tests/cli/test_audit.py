"""The command on a folder of results made of real episodes (file tools only, so that nothing is compiled)."""

import json
from pathlib import Path

import pytest

from tiebreak import tables
from tiebreak.cli import main
from tiebreak.domains.rust.blueprints import dump_blueprints
from tiebreak.domains.rust.domain import FACTS
from tiebreak.domains.rust.episode import RustEpisode, episode_terms, outcome, prompt
from tiebreak.domains.rust.protocol import format_call
from tiebreak.domains.rust.rewards import PUBLISHED_TABLES
from tiebreak.paths import Paths

LOG = "step,batch,dropped_total,training_examples\n0,96,79,17\n1,96,16,82\n"
STUDY = "config/studies/laptop.yaml"


def played(case, path: str) -> RustEpisode:
    """An episode that patches a file and ends."""
    episode = RustEpisode(case, prompt(case), tool_rounds=6)
    params = {"file_path": f"crates/{case.case_id}/{path}", "find": "nothing of this", "replace": "x"}
    episode.act(format_call("apply_patch", "c1", params))
    episode.resume([])
    episode.act("FINAL: done.")
    return episode


def rollout(case, episode: RustEpisode, sample: int, **labels) -> dict:
    """The row of an episode in a rollouts table."""
    turns = [turn | {"tokens": 3, "sampling_seed": 1} for turn in episode.messages]
    found = outcome(episode, {"dense": PUBLISHED_TABLES["dense"]})
    row = {"case_id": case.case_id, "arm": "dense", "training_seed": 0, "repetition": 0, "sample": sample}
    row |= {"family": case.family, "difficulty": case.difficulty, "template": case.template, "root_seed": 1}
    row |= {**found, "rewards": sorted(found["rewards"].items()), "turns": turns}
    return row | {"graded": False, "new_tokens": 6, "truncated": False} | labels


@pytest.fixture
def results(tmp_path: Path, cases) -> Path:
    paths, case = Paths("tiny", tmp_path), cases[0]
    dump_blueprints(make(paths.cases), cases)
    episodes = [played(case, "Cargo.toml"), played(case, "src/lib.rs")]
    rows = [rollout(case, episode, sample, graded=bool(sample)) for sample, episode in enumerate(episodes)]
    tables.write_table(paths.rollouts("dense-seed0", 0), rows, tables.rollouts(FACTS))
    group = {"step": 1, "group": 0, "case_id": case.case_id, "family": case.family, "template": case.template}
    for name in ("stop", "valid", "success", "graded", "new_tokens"):
        group[name] = [row[name] for row in rows]
    group["rewards"] = [row["rewards"][0][1] for row in rows]
    group["terms"] = [episode_terms(episode, PUBLISHED_TABLES["dense"]) for episode in episodes]
    group["turns"] = [episode.messages for episode in episodes]
    make(paths.groups("dense-seed0")).write_text(json.dumps(group) + "\n")
    paths.steps("dense-seed0").write_text(json.dumps({"step": 1, "groups": 1, "tied": 1}) + "\n")
    return paths.root


def make(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def told(capsys, *arguments: object) -> tuple[int, dict]:
    """The exit status and the JSON of a command."""
    status = main(["audit", *map(str, arguments), "--json"])
    return status, json.loads(capsys.readouterr().out)


def test_groups_of_a_log(tmp_path: Path, capsys) -> None:
    path = tmp_path / "log.csv"
    path.write_text(LOG)
    status, found = told(capsys, "groups", path, "--out", tmp_path / "out")
    assert status == 0 and found["steps_where_training_examples_is_not_kept"] == 1
    assert [row["kept"] for row in found["batches"]] == [17, 80]
    assert (tmp_path / "out" / "kept.csv").read_text().splitlines()[1] == "0,96,79,17,17"
    assert "<svg" in (tmp_path / "out" / "kept.svg").read_text()
    assert main(["audit", "groups", str(path)]) == 0
    assert "dropped: step 0: 79 of 96, so 17 kept" in capsys.readouterr().out


def test_groups_of_a_study(results: Path, tmp_path: Path, capsys) -> None:
    status, found = told(capsys, "groups", results, "--out", tmp_path / "out")
    assert status == 0 and found["differing_from_steps.jsonl"] == []
    assert found["runs"][0] | {"groups": 1, "tied": 1, "no_success_tied": 1} == found["runs"][0]
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"groups.csv", "groups.svg"}
    Paths("tiny", results.parent).steps("dense-seed0").write_text('{"step": 1, "groups": 1, "tied": 0}\n')
    status, found = told(capsys, "groups", results)
    assert status == 1 and "recorded 0 of 1 tied" in found["differing_from_steps.jsonl"][0]


def test_groups_of_saved_rollouts(tmp_path: Path, capsys) -> None:
    path = make(tmp_path / "run_default" / "rollouts" / "step_0" / "train_rollouts.jsonl")
    path.write_text(json.dumps({"env_name": "e", "example_id": 1, "reward": 1.0, "is_filtered": True}) + "\n")
    status, found = told(capsys, "groups", tmp_path)
    assert status == 0 and found["steps"][0]["tied"] == 1 and found["steps"][0]["kept"] == 0


def test_tampering_is_found_with_its_address(results: Path, capsys) -> None:
    status, found = told(capsys, "tamper", results)
    assert status == 0  # refused, and nothing was a success
    assert found["rollouts"] == 4 and found["not_refused"] == 0
    kinds = [(row["source"], row["sample"], row["kind"], row["outcome"]) for row in found["attempts"]]
    assert kinds == [("evaluation", 0, "manifest", "failed"), ("training", 0, "manifest", "failed")]
    assert {row["finding"] for row in found["findings"]} == {"graded_not_success"}


def test_a_success_that_is_not_graded_is_an_alarm(results: Path, cases, capsys) -> None:
    path = Paths("tiny", results.parent).rollouts("dense-seed0", 0)
    row = rollout(cases[0], played(cases[0], "src/lib.rs"), 0, success=True)
    tables.write_table(path, [row], tables.rollouts(FACTS))
    status, found = told(capsys, "tamper", results)
    assert status == 1 and found["findings"][0]["finding"] == "success_not_graded"


@pytest.mark.parametrize(("what", "part"), [("unsolved", "by_phase"), ("protocol", "lengths"), ("ranking", "ranking")])
def test_the_other_audits(results: Path, capsys, what: str, part: str) -> None:
    status, found = told(capsys, what, results)
    assert status == 0 and found[part]
    assert main(["audit", what, str(results)]) == 0
    assert f"{part.replace('_', ' ')} (" in capsys.readouterr().out


def test_every_shape_of_a_study_is_tried(results: Path, capsys) -> None:
    _, found = told(capsys, "ranking", results, "--study", STUDY)
    rows = [row for row in found["ranking"] if row["source"] == "evaluation" and row["arm"] == "dense"]
    assert [(row["shape"], row["own"]) for row in rows] == [("sparse", False), ("dense", True), ("compiler", False)]
    assert all(row["pairs"] == 1 for row in rows)


def test_what_is_missing_is_said(tmp_path: Path, capsys) -> None:
    assert main(["audit", "tamper", str(tmp_path)]) == 2
    assert "needs the cases" in capsys.readouterr().err
    assert main(["audit", "unsolved", str(tmp_path / "nowhere")]) == 2
    assert "no such folder" in capsys.readouterr().err
    assert main(["audit", "groups", str(tmp_path)]) == 2
    assert "name a run's output folder" in capsys.readouterr().err
