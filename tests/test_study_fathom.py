"""Study files of the fathom domain."""

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml
from study_files import refused

from tiebreak.domains.fathom.generator import PUBLISHED_LENGTHS
from tiebreak.domains.fathom.rewards import PUBLISHED_TABLES
from tiebreak.study import load

ROOT = Path(__file__).parents[1]
FATHOM: dict[str, Any] = yaml.safe_load((ROOT / "config/test/fathom-minute.yaml").read_text())
WRONG_FATHOM = [
    ({"domain": "fathoms"}, 'domain is "fathoms" (string); rust or fathom is expected'),
    ({"arms": {"a": {"compiled": 1.0}}}, "arms.a.compiled is an unknown key; known here are table, changes, faults"),
    ({"arms": {"a": {"table": "v4"}}}, "arms.a.table is \"v4\" (string); 'v1_gate', 'v2_soft' or 'v3_recursion'"),
    ({"arms": {"a": {"table": "v1_gate", "changes": {"cost": 1.0}}}}, "arms.a: changes: cost: extra inputs"),
    ({"toolbox": {"mode": "both"}}, "toolbox.mode is \"both\" (string); 'multi' or 'single' is expected"),
    ({"toolbox": {"read_limit": 9}}, "toolbox.read_limit is an unknown key; known here are mode, excerpt_tokens"),
]
LENGTHS = {"characters": 900, "share": 0.5}


@pytest.mark.parametrize(("change", "message"), WRONG_FATHOM)
def test_a_wrong_value_of_a_fathom_study_is_named(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    assert message in refused(tmp_path, yaml.safe_dump(FATHOM | change))


def test_the_tasks_of_a_fathom_study(tmp_path: Path) -> None:
    study = copy.deepcopy(FATHOM)
    study["data"]["source"]["generate"]["lengths"] = [LENGTHS]
    assert "the shares of lengths add up to 0.5" in refused(tmp_path, yaml.safe_dump(study))
    study["data"]["source"]["generate"]["lengths"] = [LENGTHS, LENGTHS]
    assert "different lengths with 1 in all are expected" in refused(tmp_path, yaml.safe_dump(study))
    del study["data"]["source"]["generate"]["lengths"]
    study["data"]["source"]["generate"]["cases"] = 39
    assert "splits ask for 40 cases, source.generate.cases is 39" in refused(tmp_path, yaml.safe_dump(study))


def test_arms_of_a_fathom_study_are_named_tables_with_changes(tmp_path: Path) -> None:
    arms = {"soft": {"table": "v2_soft"}, "dear": {"table": "v3_recursion", "changes": {"call_cost": 0.5}}}
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(FATHOM | {"arms": arms}))
    found = {name: arm.reward_table() for name, arm in load(path).arms.items()}
    assert found["soft"] == PUBLISHED_TABLES["v2_soft"]
    assert found["dear"] == PUBLISHED_TABLES["v3_recursion"].model_copy(update={"call_cost": 0.5})
    assert load("config/test/fathom-minute.yaml", ROOT).drifting == ["v1_drifted"]


def test_the_toolboxs_own_budget_of_calls_is_not_sampled_twice(tmp_path: Path) -> None:
    evaluation, toolbox = FATHOM["evaluation"] | {"call_budgets": [0, 4]}, FATHOM.get("toolbox", {}) | {"most_calls": 4}
    message = "evaluation.call_budgets has 4, which is toolbox.most_calls"
    assert message in refused(tmp_path, yaml.safe_dump(FATHOM | {"evaluation": evaluation, "toolbox": toolbox}))


def test_budgets_of_calls_repeat_nothing_that_is_done(tmp_path: Path) -> None:
    evaluation = FATHOM["evaluation"] | {"call_budgets": [0, 2, 0]}
    message = "call_budgets is [0, 2, 0]; different budgets are expected"
    assert message in refused(tmp_path, yaml.safe_dump(FATHOM | {"evaluation": evaluation}))
    path = tmp_path / "mine.yaml"
    parts = []
    for budgets in ([], [0, 2]):
        path.write_text(yaml.safe_dump(FATHOM | {"evaluation": FATHOM["evaluation"] | {"call_budgets": budgets}}))
        parts.append(load(path).parts())
    assert parts[0] == parts[1]


def test_the_laptop_study_has_both_causes_and_its_base(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    study = load("fathom-laptop")
    assert study.drifting == ["v1_drift", "v2_drift"] and not study.model.is_made
    assert [arm.table for arm in study.arms.values()].count("v3_recursion") == 1
    for plain, drifted in (("v1_gate", "v1_drift"), ("v2_soft", "v2_drift")):
        assert study.arms[plain] == study.arms[drifted].model_copy(update={"faults": ()})


def test_the_full_study_is_the_one_that_was_meant() -> None:
    study = load("fathom", ROOT)
    assert (study.model.base, study.rlvr.lora_rank) == ("Qwen/Qwen2.5-Coder-1.5B-Instruct", 16)
    assert study.model.revision == "2e1fd397ee46e1388853d2af2c993145b0f1098a"
    assert (study.rlvr.trial.steps, study.rlvr.trial.steps_under, study.rlvr.steps) == (50, 0.8, 400)
    assert study.data.splits.pool == 1000
    assert study.data.source.generate.by_length == PUBLISHED_LENGTHS
    assert {study.gpus(stage) for stage in ("sft", "rlvr", "evaluation")} == {1}
    faults = {name: (arm.table, bool(arm.faults)) for name, arm in study.arms.items()}
    assert sorted(faults.values()) == [
        *[("v1_gate", False), ("v1_gate", True), ("v2_soft", False), ("v2_soft", True)],
        ("v3_recursion", False),
    ]
    assert study.drifting == ["v1_drift", "v2_drift"]
