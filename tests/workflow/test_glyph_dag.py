"""The glyph study's jobs, without a GPU: which there are, what they ask for, and what stops them here."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml
from domains.rust.imports.hub import COMMIT, NAME, Hub, serving
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


@pytest.fixture
def named(fresh: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The study with all that its user has to name, on a model of the loopback hub."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    values = yaml.safe_load((fresh.folder / "config/studies/glyph.yaml").read_text(encoding="utf-8"))
    values["name"] = "named"
    values["data"]["source"]["import"]["revision"] = "0a" * 20
    values["model"] |= {"base": NAME, "revision": COMMIT}
    path = tmp_path / "named.yaml"
    path.write_text(yaml.safe_dump(values), encoding="utf-8")
    return path


def test_a_real_run_stops_before_its_first_job_where_gpus_are_missing(
    fresh: Checkout, named: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    done = fresh.snakemake("--cores", "1", "--config", f"study={named}")
    assert done.returncode == 1
    assert "this machine has no usable gpus: none; the study's largest job takes 4" in done.stderr
    assert f"\ntiebreak: study named: model {NAME} at {COMMIT}: the hub cannot be reached" in done.stderr
    assert not (fresh.folder / "results").exists()


class Huge(Hub):
    """A model with more weights than any disk holds."""

    def about(self) -> dict[str, object]:
        files = [{"rfilename": "config.json", "size": 2}, {"rfilename": "model.safetensors", "size": 1 << 60}]
        return super().about() | {"siblings": files}


@pytest.mark.parametrize(
    ("hub", "words"),
    [
        (Hub({}, models=True, gated=True), f"study named: model {NAME} at {COMMIT}: the model is gated; ask for acc"),
        (Huge({}, models=True), r"study named: \d+\.\d GiB free; the study may still take \d+ GiB \(.*, checkpoints "),
    ],
    ids=["gated", "disk"],
)
def test_a_cluster_is_given_no_job_for_what_no_machine_could_do(
    fresh: Checkout, named: Path, monkeypatch: pytest.MonkeyPatch, hub: Hub, words: str
) -> None:
    """Nothing is submitted, so this needs no Slurm."""
    with serving(hub):
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
        done = fresh.snakemake("--profile", "profiles/slurm", "--config", f"study={named}")
    assert done.returncode == 1 and re.search(words, done.stderr), done.stderr[-2000:]
    assert "SLURM jobid" not in done.stderr and not (fresh.folder / "results").exists()
