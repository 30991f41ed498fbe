"""Whether records tell of the study as it is now: a chain of them as the rules would leave it, and one edit each."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tiebreak.current import is_current, values
from tiebreak.study import Study, load

REPO = Path(__file__).resolve().parents[1]
BEHIND_A_GATE = "base replies blueprints cases splits leakage traces prompts parity sft probe bands ties trial".split()
OTHER_THINGS = {"study", "code", "toolchain", "threads", "gpus"}
PARAMS = {
    "traces": ["domain", "root_seed", "detours", "system_message", "toolbox", "most_calls"],
    "sft": ["domain", "root_seed", "model", "sft"],
    "probe": ["domain", "root_seed", "shapes", "model", "evaluation", "probe", "toolbox"],
    "ties": ["domain", "arm", "max_tied"],
}
READS = {"traces": [], "sft": ["traces"], "probe": ["sft"], "ties": ["probe"]}


@pytest.fixture(scope="module")
def study() -> Study:
    return load("config/test/fathom-minute.yaml", REPO)


def edited(study: Study, place: str, value: Any) -> Study:
    """The study with one value changed."""
    plain = study.model_dump(mode="json", by_alias=True, exclude_none=True)
    *path, last = place.split(".")
    part = plain
    for key in path:
        part = part[key]
    part[last] = value
    return type(study).model_validate(plain)


def record_of(study: Study, rule: str, digests: dict[str, str]) -> dict[str, Any]:
    """A record as the rule's job leaves it, cut to what is read."""
    wildcards = {"ties": {"arm": "v1_gate"}, "probe": {"run": "sft"}}.get(rule, {})
    now = values({"wildcards": wildcards, "params": {}}, study)
    return {
        "rule": rule,
        "wildcards": wildcards,
        "params": {"code": "c", "threads": 1} | {name: now[name] for name in PARAMS[rule]},
        "inputs": [{"name": "x.0", "path": path, "sha256": digests[path]} for path in READS[rule]],
        "outputs": [{"name": "x", "path": rule, "sha256": digests[rule]}],
        "git": {"commit": "d", "dirty": False},
        "host": {"name": "here"},
        "environment": {"OMP_NUM_THREADS": "1"},
        "started": "2026-11-29T14:00:00Z",
        "seconds": 1.0,
    }


@pytest.fixture
def records(study: Study, tmp_path: Path) -> Path:
    for rule in PARAMS:
        text = json.dumps(record_of(study, rule, {name: f"of {name}" for name in PARAMS}))
        (tmp_path / f"{rule}.json").write_text(text)
    return tmp_path


def ties_are_current(study: Study, records: Path) -> bool:
    return is_current(json.loads((records / "ties.json").read_text()), study, records)


def test_a_chain_of_the_same_study_is_current(study: Study, records: Path) -> None:
    assert ties_are_current(study, records)
    for place, value in (("rlvr.training_seeds", 3), ("statistics.alpha", 0.01), ("evaluation.repetitions", 5)):
        assert ties_are_current(edited(study, place, value), records), place


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("root_seed", 99),
        ("sft.epochs", 9),
        ("data.detours", 0.9),
        ("evaluation.temperature", 0.01),
        ("probe.samples", 3),
        ("toolbox.output_limit", 333),
        ("model.system_message", "Be brief."),
        ("rlvr.trial.max_tied", 0.01),
        ("arms.v1_gate.table", "v2_soft"),
    ],
)
def test_one_edit_anywhere_behind_is_noticed(study: Study, records: Path, place: str, value: Any) -> None:
    assert not ties_are_current(edited(study, place, value), records)


def test_another_arm_is_not_behind(study: Study, records: Path) -> None:
    other = next(arm for arm in study.arms if arm != "v1_gate")
    assert ties_are_current(edited(study, f"arms.{other}.table", "v3_recursion"), records)


def test_files_that_were_made_again_since_are_noticed(study: Study, records: Path) -> None:
    """The probe ran again and gave other rollouts; its own values are the study's."""
    again = record_of(study, "probe", {name: f"of {name}" for name in PARAMS} | {"probe": "another"})
    (records / "probe.json").write_text(json.dumps(again))
    assert not ties_are_current(study, records)


def test_every_parameter_of_a_rule_behind_a_gate_is_compared(study: Study) -> None:
    """By the rules themselves: a new parameter needs a place, or a reason to be left out."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted((REPO / "rules").glob("*.smk")))
    rules = dict(re.findall(r"^rule (\w+):\n(.*?)(?=^rule |\Z)", text, re.MULTILINE | re.DOTALL))
    known = set(values({"wildcards": {}, "params": {}}, study)) | OTHER_THINGS
    for rule in BEHIND_A_GATE:
        params = re.search(r"\n    params:\n(.*?)\n    script:", rules[rule], re.DOTALL)
        assert params is not None, rule
        assert set(re.findall(r"^        (\w+)=", params[1], re.MULTILINE)) - known == set(), rule
