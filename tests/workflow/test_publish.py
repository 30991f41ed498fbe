"""The minute study published by the real Snakemake to the hub on the loopback: once, and again."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hub.messages import User
from hub.server import Hub, serving

if TYPE_CHECKING:
    from conftest import Checkout

pytestmark = pytest.mark.slow
TOKEN = "hf_" + "minute" * 4
STUDY = "config/test/minute.yaml"
WHERE = "\npublish: {dataset: anna/minute, models: anna, license: cc-by-4.0}\n"


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    with serving(tmp_path / "hub", {TOKEN: User("anna")}) as found:
        monkeypatch.setenv("HF_ENDPOINT", found.endpoint)
        monkeypatch.setenv("HF_TOKEN", TOKEN)
        yield found
        assert found.unknown == []


def said(done: subprocess.CompletedProcess[str]) -> str:
    return done.stdout + done.stderr


def test_the_study_is_published_by_one_target(
    minute: Checkout, branch: Callable[[Checkout], Checkout], hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout = branch(minute)
    checkout.append(STUDY, WHERE)
    assert checkout.jobs("--config", f"study={STUDY}") == {}, "where a study goes changes nothing that is measured"
    assert checkout.jobs("publish", "--config", f"study={STUDY}") == {"release": 1, "publish": 1}

    monkeypatch.delenv("HF_TOKEN")
    refused = checkout.minute("publish")
    assert refused.returncode and "HF_TOKEN is not set" in said(refused)
    assert not (checkout.results / "publish").exists() and hub.asked == []
    monkeypatch.setenv("HF_TOKEN", TOKEN)

    done = checkout.minute("publish")
    assert done.returncode == 0, said(done)
    receipt = json.loads((checkout.results / "publish/receipt.json").read_text())
    assert receipt["dataset"]["commit"] == hub.store.head("datasets", "anna/minute").id
    assert sorted(receipt["models"]) == ["dense-seed0", "sft", "sparse-seed0"]
    files = hub.store.files("datasets", "anna/minute")
    assert len(files) < 100 and {"README.md", "manifest.json", "ro-crate-metadata.json"} <= set(files)
    for folder in ("results", "logs", "benchmarks", ".snakemake"):
        for path in (checkout.folder / folder).rglob("*"):
            assert not path.is_file() or TOKEN.encode() not in path.read_bytes(), path
    assert TOKEN not in said(done)

    hub.again()
    again = checkout.minute("publish", "--forcerun", "release", "publish")
    assert again.returncode == 0, said(again)
    assert "anna/minute: nothing to do" in said(again)
    assert {method for method, _, _ in hub.asked} == {"GET"}
    assert (
        json.loads((checkout.results / "publish/receipt.json").read_text())["dataset"]["commit"]
        == receipt["dataset"]["commit"]
    )


def test_a_study_without_a_place_is_refused_at_the_start(fresh: Checkout, hub: Hub) -> None:
    for flags in (("-n",), ("--cores", "1")):
        done = fresh.snakemake("publish", *flags)
        assert done.returncode and "study laptop: publish.dataset is null; write owner/name" in said(done)
    assert os.environ["HF_TOKEN"] and hub.asked == []
