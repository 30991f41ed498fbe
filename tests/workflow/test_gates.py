"""The gates bite: under the real Snakemake a study that must not be trained stops before that, with the reason."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from tiebreak.gates import read

if TYPE_CHECKING:
    from conftest import Checkout

pytestmark = pytest.mark.slow
STUDY = "config/test/minute.yaml"
MINUTE = ("--config", f"study={STUDY}")
OWN_MESSAGE = "You are a Rust coding agent. Use tools when needed. After FINAL, stop immediately!"


def stopped(checkout: Checkout, rule: str) -> str:
    """What the failing rule said when SFT was asked for; SFT did not run, and the evidence is kept."""
    done = checkout.minute("sft")
    assert done.returncode == 1
    assert not (checkout.results / "sft").exists() and not (checkout.results / f"gates/{rule}.json").exists()
    decision = read(checkout.results / f"work/{rule}/stopped.json")
    assert not decision.go
    line = next(line for line in done.stderr.splitlines() if line.startswith(f"{rule}: "))
    assert line == f"{rule}: {rule} gate: {decision.reason}"
    assert "Traceback" not in done.stderr
    return decision.reason


def test_one_byte_between_the_prompts_of_rl_and_of_sft_stops_the_study(
    prepared: Checkout, branch: Callable[[Checkout], Checkout]
) -> None:
    checkout = branch(prepared)
    checkout.edit(STUDY, "rlvr: {", f'rlvr: {{system_message: "{OWN_MESSAGE}", ')
    reason = stopped(checkout, "parity")
    place = len("<|im_start|>system\n") + OWN_MESSAGE.index("!")
    assert re.match(rf"case \S+: the pool prompt differs at byte {place} \(line 2, column {place - 18}\)", reason)
    assert "found '!' (0x21), expected '.' (0x2e)" in reason
    assert "8 of 8 pool prompts differ" in reason


def test_the_same_byte_declared_as_a_fault_of_every_arm_goes_on(
    prepared: Checkout, branch: Callable[[Checkout], Checkout]
) -> None:
    checkout = branch(prepared)
    checkout.edit(STUDY, "rlvr: {", f'rlvr: {{system_message: "{OWN_MESSAGE}", ')
    checkout.edit(STUDY, "sparse: {}", "sparse: {faults: [drifted_prompt]}")
    checkout.edit(STUDY, "dense: {", "dense: {faults: [drifted_prompt], ")
    done = checkout.minute("results/minute/gates/parity.json")
    assert done.returncode == 0, done.stderr
    decision = read(checkout.results / "gates/parity.json")
    assert decision.go and decision.reason.startswith("declared as a fault (drifted_prompt): case ")


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_held_out_case_that_is_a_training_case_stops_the_study(
    prepared: Checkout, branch: Callable[[Checkout], Checkout]
) -> None:
    """A training case, with one comment more, under another name and in the holdout instead of its first case."""
    checkout = branch(prepared)
    data = checkout.results / "data"
    splits = json.loads((data / "splits.json").read_text())
    twin = splits["sft"][0]
    case = next(case for case in lines(data / "cases.jsonl") if case["case_id"] == twin)
    source = next(name for name in case["files"] if name.startswith("src/"))
    files = case["files"] | {source: "// not the same file\n" + case["files"][source]}
    with (data / "cases.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(case | {"case_id": "case_twin", "files": files}) + "\n")
    splits["holdout"][0] = "case_twin"
    (data / "splits.json").write_text(json.dumps(splits))
    touch = ("--touch", "--no-hooks", "--cores", "1")  # Snakemake is to take the splits for made from these cases
    done = checkout.snakemake(*touch, "results/minute/data/splits.json", *MINUTE)
    assert done.returncode == 0, done.stderr
    reason = stopped(checkout, "leakage")
    assert reason.startswith(f"case {twin} as given (sft) is the same code as case case_twin as given (holdout), and")


@pytest.fixture(scope="module")
def tied(minute: Checkout, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """The minute study with its sparse arm alone and a gate that this arm, all of whose rollouts tie, must not pass."""
    checkout = minute.copy_to(tmp_path_factory.mktemp("tied") / "main")
    checkout.edit(STUDY, "max_tied: 1.5", "max_tied: 0.8")
    checkout.edit(STUDY, "  dense: {compiled: 0.5, tests_passed: 2.0}\n", "")
    done = checkout.minute()
    assert done.returncode == 0, done.stdout + done.stderr
    return checkout


def test_an_arm_whose_rollouts_all_tie_is_not_trained(tied: Checkout) -> None:
    arm = tied.results / "arms/sparse/seed0"
    decision = read(arm / "decision.json")
    assert decision.gate == "ties" and not decision.go
    assert decision.reason.startswith("sparse: 4 of 4 groups sampled from the SFT model tie (1.000, 95 % interval 0.")
    assert "max_tied is 0.8: nothing would be learned" in decision.reason
    assert [path.name for path in (arm / "model").glob("[!.]*")] == ["stopped.json"]
    assert json.loads((arm / "model/stopped.json").read_text()) == {"gate": "ties", "reason": decision.reason}
    assert (arm / "steps.jsonl").read_text() == "" == (arm / "groups.jsonl").read_text()


def test_a_stopped_run_is_in_no_number_and_in_the_report_with_its_reason(tied: Checkout) -> None:
    summary = json.loads((tied.results / "evals/sparse-seed0/rep0/summary.json").read_text())
    reason = read(tied.results / "arms/sparse/seed0/decision.json").reason
    assert summary["stopped"] == reason and summary["rollouts"] == 0
    assert pq.read_metadata(tied.results / "evals/sparse-seed0/rep0/rollouts.parquet").num_rows == 0
    analysis = json.loads((tied.results / "stats/analysis.json").read_text())
    assert set(analysis["arms"]) == {"sft"} and [row["run"] for row in analysis["stopped"]] == ["sparse-seed0"]
    audits = json.loads((tied.results / "audits/audits.json").read_text())
    assert {row["arm"] for row in audits["tables"]["outcomes"]} == {"sft"} and not audits["tables"]["group_runs"]
    page = html.unescape((tied.results / "report/index.html").read_text(encoding="utf-8"))
    assert "every training run was stopped by a gate" in page
    assert "<strong>ties, sparse</strong>" in page and reason in page
    assert "dense" not in page, "an arm that the study no longer has is in no report"
