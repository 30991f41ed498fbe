"""The data page, of tasks from the generator."""

from dataclasses import asdict
from pathlib import Path
from random import Random

import pytest

from tiebreak import gates
from tiebreak.audits.clusters import clusters
from tiebreak.audits.crossings import crossings
from tiebreak.audits.near import Index
from tiebreak.domains.rust.blueprints import Blueprint
from tiebreak.domains.rust.generator import generate
from tiebreak.domains.rust.shared_code import forms
from tiebreak.report.data_page import build

HOSTILE = "</pre><script>alert(1)</script>"


@pytest.fixture(scope="module")
def members() -> dict[str, list[Blueprint]]:
    cases = generate("all", 120, 3)
    Random(0).shuffle(cases)
    return {"sft": cases[:80], "pool": cases[80:95], "holdout": cases[95:]}


def page(members: dict[str, list[Blueprint]], out: Path, rejects: list[dict[str, object]]) -> str:
    sources = {case.case_id: forms(case) for held in members.values() for case in held}
    ids = {name: [case.case_id for case in held] for name, held in members.items()}
    near = crossings(Index(sources.items()), ids, 1.0, lambda case, form: sources[case][form])
    templates = {name: clusters(case.template for case in held) for name, held in members.items()}
    leakage = asdict(gates.leakage({}, near=near, max_similarity=1.0, templates=templates))
    parity = {"gate": "parity", "reason": "all prompts are the same bytes"}
    turns = [
        {"role": "user", "content": HOSTILE, "loss": False},
        {"role": "assistant", "content": "FINAL: done", "loss": True},
    ]
    traces = [
        {**{key: getattr(case, key) for key in ("case_id", "family", "template", "difficulty")}, "turns": turns}
        for case in members["sft"]
    ]
    prompts = {"pool": {"test_only": "<|im_start|>user"}, "holdout": {}}
    made = build("small", members, {"leakage": leakage, "parity": parity}, rejects, traces, prompts, out)
    return made.read_text(encoding="utf-8")


def test_the_page_counts_what_there_is_and_escapes_what_models_read(
    members: dict[str, list[Blueprint]], tmp_path: Path
) -> None:
    rejects = [{"case_id": "odd", "step": 2, "errors": ["odd: the patch changes nothing"]}]
    text = page(members, tmp_path, rejects)
    assert "80 cases for sft, 15 cases for pool, 25 cases for holdout; 1 specs were rejected" in text
    assert "the patch changes nothing" in text and "odd" in text
    assert HOSTILE not in text and "&lt;script&gt;" in text
    assert text.count('class="turn learnt"') == len({case.family for case in members["sft"]})
    for case in members["holdout"]:
        assert case.template in text
    assert {path.name for path in (tmp_path / "tables").iterdir()} == {"figure_shares.csv", "figure_nearest.csv"}


def test_the_same_inputs_give_the_same_bytes(members: dict[str, list[Blueprint]], tmp_path: Path) -> None:
    assert page(members, tmp_path / "a", []) == page(members, tmp_path / "b", [])
    assert "None." in (tmp_path / "a/index.html").read_text(encoding="utf-8")
