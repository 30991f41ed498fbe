"""The glyph study's jobs, without a GPU: which there are, what they ask for, and what stops them here."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from workflow.conftest import counted

if TYPE_CHECKING:
    from conftest import Checkout

GLYPH = ("--config", "study=glyph")


@pytest.mark.parametrize(("study", "seeds"), [("glyph", 5), ("glyph-published", 1)])
def test_every_job_asks_for_its_gpus(fresh: Checkout, study: str, seeds: int) -> None:
    done = fresh.snakemake("-n", "--config", f"study={study}")
    assert done.returncode == 0, done.stdout + done.stderr
    asked: dict[str, set[str]] = {}
    for rule, gpus in re.findall(r"^rule (\w+):.*?gpu=(\d+)", done.stdout + done.stderr, re.MULTILINE | re.DOTALL):
        asked.setdefault(rule, set()).add(gpus)
    assert {rule for rule, gpus in asked.items() if gpus == {"4"}} == {"trial", "rlvr"}
    assert {rule for rule, gpus in asked.items() if gpus == {"1"}} == {"sft", "probe", "evaluation"}
    runs = 1 + 3 * seeds
    jobs = counted(done)
    assert (jobs["trial"], jobs["rlvr"], jobs["probe"], jobs["evaluation"]) == (3 * seeds, 3 * seeds, runs, 3 * runs)
    assert jobs["base"] == jobs["sft"] == 1


def test_a_real_run_first_asks_for_what_only_its_user_can_name(fresh: Checkout) -> None:
    done = fresh.snakemake("--cores", "1", *GLYPH)
    assert done.returncode == 1
    assert "tiebreak: study glyph: data.source.import.revision is `ask`" in done.stderr
    assert not (fresh.folder / "results").exists()


def test_a_real_run_stops_before_its_first_job_where_gpus_are_missing(
    fresh: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    text = (fresh.folder / "config/studies/glyph.yaml").read_text()
    named = tmp_path / "named.yaml"
    named.write_text(text.replace("revision: ask", f"revision: {'0a' * 20}").replace("name: glyph", "name: named"))
    done = fresh.snakemake("--cores", "1", "--config", f"study={named}")
    assert done.returncode == 1
    assert "this machine has no usable gpus: none; the study's largest job takes 4" in done.stderr
    assert not (fresh.folder / "results").exists()
