"""Specs from a language model, under the real Snakemake, against a server on the loopback."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from domains.rust.llm.server import MODEL, Server, serving

from tiebreak.domains.rust.blueprints import load_blueprints

if TYPE_CHECKING:
    from conftest import Checkout

pytestmark = pytest.mark.slow
KEY = "sk-very-secret-4567"
STUDY = "config/test/minute.yaml"
GENERATED = "{generate: {templates: all, cases: 44}}"
OPTIONS = ("--config", f"study={STUDY}")
DATA = "results/minute/data"


def llm_study(checkout: Checkout, url: str, cases: int) -> Checkout:
    """The minute study with all of its specs from a model."""
    source = (
        f"{{llm: {{endpoint: '{url}', model: {MODEL}, cases: {cases}, key_variable: TIEBREAK_TEST_KEY, tries: 2, "
        "families: [patch_test_pass, patch_test_recover, run_only], prices: {input: 1.0, output: 2.0}}}"
    )
    checkout.edit(STUDY, GENERATED, source)
    return checkout


def test_specs_are_asked_for_once_and_bad_replies_are_rejects(
    fresh: Checkout, branch: Callable[[Checkout], Checkout], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIEBREAK_TEST_KEY", KEY)
    with serving(Server(key=KEY, faults={1: "busy", 3: "malformed", 5: "cut"})) as server:
        checkout = llm_study(branch(fresh), server.url, 44)
        jobs = checkout.jobs("data", *OPTIONS)
        assert jobs["replies"] == jobs["blueprints"] == 1 and server.asked == [], "a dry run asks for nothing"
        target = f"{DATA}/cases.jsonl"
        done = checkout.snakemake("--cores", "2", target, *OPTIONS)
        assert done.returncode == 0, done.stderr
        check_data(checkout.folder / DATA, len(server.seeds))
        assert "44 replies of writer-1: 44000 prompt and 4400 completion tokens" in done.stdout + done.stderr
        written = [path for name in ("results", "logs") for path in (checkout.folder / name).rglob("*")]
        assert not [path for path in written if path.is_file() and KEY.encode() in path.read_bytes()]
        assert KEY not in done.stdout + done.stderr
        checkout.edit("src/tiebreak/domains/rust/llm/replies.py", "MILLION = 1_000_000", "MILLION = 1000 * 1000")
        assert checkout.jobs(target, *OPTIONS)["replies"] == 1
        assert checkout.snakemake("--cores", "2", target, *OPTIONS).returncode == 0
        assert len(server.seeds) == 44, "replies are paid for once, also when the rule is run again"


def check_data(data: Path, answered: int) -> None:
    """Good replies are cases, bad ones are rejects with their reasons, and the summary says what they took."""
    rejects = [json.loads(line) for line in (data / "rejects.jsonl").read_text(encoding="utf-8").splitlines()]
    errors = " ".join(error for reject in rejects for error in reject["errors"])
    assert "invalid JSON spec" in errors and "ended by 'length', not by itself" in errors
    cases = load_blueprints(data / "cases.jsonl")
    assert answered == 44 == len(cases) + len(rejects) and len(cases) > 36
    assert {case.generator for case in cases} == {f"llm {MODEL}"}
    usage = json.loads((data / "usage.json").read_text())
    assert usage["finish_reasons"] == {"length": 1, "stop": 43} and usage["forms"] == {"json_schema": 44}
    assert usage["cost"] == pytest.approx(44 * (1000 * 1.0 + 100 * 2.0) / 1e6)


def test_a_wrong_key_is_one_clear_error(
    fresh: Checkout, branch: Callable[[Checkout], Checkout], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIEBREAK_TEST_KEY", KEY)
    with serving(Server(key="another")) as server:
        checkout = llm_study(branch(fresh), server.url, 44)
        done = checkout.snakemake("--cores", "2", f"{DATA}/blueprints.jsonl", *OPTIONS)
    errors = [line for line in done.stderr.splitlines() if line.startswith("replies: endpoint ")]
    assert done.returncode == 1 and len(errors) == 1 and "Traceback" not in done.stderr
    assert "refused with status 401" in errors[0] and "the key comes from TIEBREAK_TEST_KEY" in errors[0]
    assert KEY not in done.stdout + done.stderr
