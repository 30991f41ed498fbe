"""How an arm stands, from decisions that the real gates made."""

import json
from pathlib import Path

import pytest

from tiebreak import gates
from tiebreak.cli import main
from tiebreak.domains.base import Domain
from tiebreak.job_domain import opened
from tiebreak.paths import Paths
from tiebreak.prompts import by_case, prompt_rows
from tiebreak.standing import Standing, standing
from tiebreak.study import Study, load

REPO = Path(__file__).resolve().parents[1]
STUDY = "config/test/fathom-minute.yaml"


@pytest.fixture(scope="module")
def study() -> Study:
    return load(STUDY, REPO)


@pytest.fixture(scope="module")
def domain(study: Study) -> Domain:
    return opened("fathom", study.parts()["toolbox"], study.parts()["arms"], workers=1)


@pytest.fixture
def paths(study: Study, tmp_path: Path) -> Paths:
    return Paths(study.name, tmp_path / "results")


def write_parity(domain: Domain, path: Path, *, declared: bool = True, drifted: str = "pool of v1_drifted") -> None:
    """The parity gate of two real tasks, of which one stage drifts."""
    from tiebreak.domains.fathom.generator import generate

    cases = generate(1, 2, {900: 1.0})
    right = by_case(prompt_rows(domain, cases, None))
    found = {"sft": right, "pool": right, "holdout": right}
    found[drifted] = by_case(prompt_rows(domain, cases, None, drifted=True))
    expected = dict.fromkeys(found, right)
    faults = {drifted: "drifted_prompt"} if declared else {}
    gates.write(path, gates.parity(expected, found, declared=faults))


def write_ties(domain: Domain, paths: Paths, arm: str, *, tied: int, max_tied: float = 1.5) -> None:
    group = [{"correctness": 0.75, "token_budget": 0.2, "recursion": 0.05}, {"token_budget": 0.2, "recursion": 0.05}]
    terms = [group[:1] * 2] * tied + [group] * (8 - tied)
    rewards = [[sum(row.values()) for row in rows] for rows in terms]
    declared = domain.declared_terms(arm)
    found = gates.ties(arm, rewards, max_tied=max_tied, terms=terms, declared=declared)
    gates.write(paths.ties(arm), found)


def write_trial(paths: Paths, arm: str, tied: list[bool], **rule: float) -> None:
    steps = list(range(1, len(tied) + 1))
    found = gates.trial_of_groups(f"{arm}-seed0", steps, tied, max_tied=rule.pop("max_tied", 1.5), **rule)
    gates.write(paths.decision(f"{arm}-seed0"), found)


def texts(found: Standing) -> list[str]:
    return [part.text for part in found.parts]


def test_what_is_not_measured_is_said_with_its_target(study: Study, domain: Domain, paths: Paths) -> None:
    found = standing(study, "v1_gate", domain, paths)
    assert found.verdict == "open"
    assert [part.targets for part in found.parts] == [
        (str(paths.gate("parity")),),
        (str(paths.ties("v1_gate")),),
        (str(paths.decision("v1_gate-seed0")),),
    ]
    assert "recursion is dead" in found.parts[1].text  # needs no rollout


def test_a_go_in_three_sentences(study: Study, domain: Domain, paths: Paths) -> None:
    write_parity(domain, paths.gate("parity"))
    write_ties(domain, paths, "v1_gate", tied=2)
    write_trial(paths, "v1_gate", [True, False, False, False])
    found = standing(study, "v1_gate", domain, paths)
    assert found.verdict == "go"
    parity, ties, trial = texts(found)
    assert parity == "A task has the same prompt, byte for byte, in SFT, RL and evaluation (6 prompts compared)."
    assert "token_budget never differs" in ties and "2 of 8 (0.250, 95 % interval 0.071 to 0.591)" in ties
    assert "1 of 4 (0.250, 95 % interval 0.046 to 0.699) groups of seed 0 tie" in trial
    assert trial.endswith("so training goes on.")


def test_a_declared_fault_shows_its_first_byte_and_stops_nothing(study: Study, domain: Domain, paths: Paths) -> None:
    write_parity(domain, paths.gate("parity"))
    part = standing(study, "v1_drifted", domain, paths).parts[0]
    assert part.go is True
    assert part.text.startswith("2 of 2 RL prompts differ") and "on purpose (fault drifted_prompt)" in part.text
    assert "⟦C⟧ontext:" in part.text and "first at byte" in part.text


def test_a_drift_that_nobody_declared_is_a_no_go(study: Study, domain: Domain, paths: Paths) -> None:
    """The gate stops the study then, and leaves its decision beside the job's work."""
    decision, record = paths.stopped("parity")
    write_parity(domain, decision, declared=False, drifted="pool")
    write_record(record, {"drifting": study.drifting})
    found = standing(study, "v1_gate", domain, paths)
    assert found.verdict == "no-go"
    assert "nothing says that this is on purpose" in found.parts[0].text


def test_the_ties_gate_stops_before_a_trial(study: Study, domain: Domain, paths: Paths) -> None:
    write_parity(domain, paths.gate("parity"))
    write_ties(domain, paths, "v1_gate", tied=8, max_tied=0.8)
    found = standing(study, "v1_gate", domain, paths)
    assert found.verdict == "no-go"
    assert texts(found)[2].startswith("There is no trial, for the ties gate stops the arm")


def test_the_published_rule_is_told_by_step(study: Study, domain: Domain, paths: Paths) -> None:
    rule = study.rlvr.trial.model_copy(update={"max_tied": 0.5, "steps_under": 0.8})
    strict = study.model_copy(update={"rlvr": study.rlvr.model_copy(update={"trial": rule})})
    write_parity(domain, paths.gate("parity"))
    write_ties(domain, paths, "v1_gate", tied=2)
    write_trial(paths, "v1_gate", [True, True, False, False], max_tied=0.5, steps_under=0.8)
    found = standing(strict, "v1_gate", domain, paths)
    assert found.verdict == "no-go"
    assert "(in 2 of 4 steps few enough)" in texts(found)[2]
    assert "less than 0.5 of the groups in at least 0.8 of the steps" in texts(found)[2]
    assert "so the training of seed 0 stops" in texts(found)[2]


def write_record(path: Path, params: dict[str, object], **wildcards: str) -> None:
    """A record as a gate's job leaves it, cut to what is read."""
    found = {"rule": "a", "wildcards": wildcards, "params": {"code": "c"} | params, "inputs": [], "outputs": []}
    place = {"git": {"commit": "d", "dirty": False}, "host": {"name": "here"}, "seconds": 1.0}
    threads = {"environment": {"OMP_NUM_THREADS": "1"}, "started": "2026-11-29T14:00:00Z"}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found | place | threads))


def test_a_decision_about_another_arm_of_that_name_is_not_believed(study: Study, domain: Domain, paths: Paths) -> None:
    write_ties(domain, paths, "v1_gate", tied=2)
    params = {"arm": study.parts()["arms"]["v1_gate"], "max_tied": study.rlvr.trial.max_tied}
    for change, go in (({}, True), ({"max_tied": 0.1}, None), ({"arm": {"table": "v2_soft"}}, None)):
        write_record(paths.record("ties-v1_gate"), params | change, arm="v1_gate")
        assert standing(study, "v1_gate", domain, paths).parts[1].go is go


def test_a_go_is_not_believed_of_another_seed(study: Study, domain: Domain, paths: Paths) -> None:
    write_parity(domain, paths.gate("parity"))
    write_ties(domain, paths, "v1_gate", tied=2)
    write_trial(paths, "v1_gate", [False])
    parts = study.parts()
    trial = {"root_seed": study.root_seed, "arm": parts["arms"]["v1_gate"], "rlvr": parts["rlvr"]}
    write_record(paths.record("trial-v1_gate-0"), trial, arm="v1_gate", seed="0")
    assert standing(study, "v1_gate", domain, paths).verdict == "go"
    assert standing(study.model_copy(update={"root_seed": 99}), "v1_gate", domain, paths).verdict == "open"


def test_a_gate_that_stopped_another_study_stops_this_one_no_longer(study: Study, domain: Domain, paths: Paths) -> None:
    decision, record = paths.stopped("parity")
    write_parity(domain, decision, declared=False, drifted="pool")
    for message, go in ((study.model.system_message, False), ("Another.", None)):
        write_record(record, {"system_message": message})
        assert standing(study, "v1_gate", domain, paths).parts[0].go is go


def test_the_command(domain: Domain, study: Study, paths: Paths, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["gate", "--study", str(REPO / STUDY), "--arm", "v1_gate", "--results", str(paths.results)]
    assert main(arguments) == 2
    said = capsys.readouterr().out
    assert said.startswith("v1_gate: not decided yet\n")
    assert f"./dev snakemake --cores all {paths.decision('v1_gate-seed0')} --config study=" in said
    write_parity(domain, paths.gate("parity"))
    write_ties(domain, paths, "v1_gate", tied=8, max_tied=0.8)
    assert main(arguments) == 1
    write_ties(domain, paths, "v1_gate", tied=0)
    write_trial(paths, "v1_gate", [False])
    assert main([*arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out.partition("\n{")[2].join(["{", ""]))["verdict"] == "go"
    assert main([*arguments[:-4], "--arm", "v1_gat"]) == 2
    assert "did you mean v1_gate?" in capsys.readouterr().err


def test_every_arm_of_every_study_can_be_asked(tmp_path: Path) -> None:
    for path in sorted((REPO / "config").glob("*/*.yaml")):
        for arm in load(path, REPO).arms:
            assert main(["gate", "--study", str(path), "--arm", arm, "--results", str(tmp_path)]) == 2
