"""The minute study released, verified, forged, taken back into a clone."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from publish.forgers import remake_manifest, remake_records
from publish.forging import CORRUPTIONS, flip_token

from tiebreak.cli import main
from tiebreak.errors import ConfigError, DataError
from tiebreak.paths import Paths
from tiebreak.publish.card import card
from tiebreak.publish.importing import bring
from tiebreak.publish.release import build
from tiebreak.publish.verdicts import Verdict
from tiebreak.publish.verify import Options, verify
from tiebreak.study import load

if TYPE_CHECKING:
    from conftest import Checkout

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def release(minute: Checkout) -> Path:
    """The release of the minute study; not to be changed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(minute.folder)
        folder = build(Paths("minute"), load("config/test/minute.yaml"), card)
    return minute.folder / folder


@pytest.fixture
def forged(release: Path, tmp_path: Path) -> Path:
    """A copy of the release, to be changed."""
    return Path(shutil.copytree(release, tmp_path / "release"))


LATE = {"flipped rollout token", "edited audit", "edited card number", "edited p-value in the report"}


def first_failure(release: Path, **options: object) -> Verdict | None:
    """The first failing verdict."""
    found = verify(release, Options(**options))  # type: ignore[arg-type]
    return next((verdict for verdict in found if verdict.fails), None)


def test_a_release_is_verified_whole_from_an_empty_folder(
    release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    verdicts = list(verify(release, Options(regrade=None)))
    assert [verdict for verdict in verdicts if verdict.fails] == []
    states = {verdict.subject: verdict.state for verdict in verdicts}
    for name in (
        "stats/analysis.json",
        "audits/audits.json",
        "report/index.html",
        "data/cases.jsonl",
        "data/sft.parquet",
    ):
        assert states[f"results/minute/{name}"] == "bit-exact"
    assert states["rollouts played again"] == states["README.md"] == states["ro-crate-metadata.json"] == "bit-exact"
    assert states["code"] == "bit-exact" and states["jobs of rule rlvr"] == "not re-run"
    assert not list(tmp_path.iterdir())


def test_the_same_results_give_the_same_release(minute: Checkout, release: Path, tmp_path: Path) -> None:
    before = {path.relative_to(release): path.read_bytes() for path in release.rglob("*") if path.is_file()}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(minute.folder)
        build(Paths("minute"), load("config/test/minute.yaml"), card)
    after = {path.relative_to(release): path.read_bytes() for path in release.rglob("*") if path.is_file()}
    assert before == after and len(after) < 100


@pytest.mark.parametrize("name", CORRUPTIONS)
def test_a_forgery_is_found_by_its_digest_and_then_by_its_record(forged: Path, name: str) -> None:
    CORRUPTIONS[name](forged)
    found = first_failure(forged)
    assert found is not None and found.subject == "files" and found.difference is not None
    remake_manifest(forged)
    assert first_failure(forged) is not None


# those that are found before the analysis is computed again, which takes longer, and one that is not
RECOMPUTED = sorted({*CORRUPTIONS} - {name for name in CORRUPTIONS if name.startswith("edited figure")} - LATE)


@pytest.mark.parametrize("name", [*RECOMPUTED, "edited p-value in the report"])
def test_a_forgery_is_found_by_recomputing_though_every_digest_was_made_anew(forged: Path, name: str) -> None:
    CORRUPTIONS[name](forged)
    remake_records(forged)
    found = first_failure(forged, regrade=None)
    assert found is not None and found.difference is not None, name
    assert found.subject not in ("files", "science digest")


def test_a_flipped_token_is_found_by_sampling_again(forged: Path, minute: Checkout) -> None:
    """The turn says nothing that a tool would hear, so only the model can tell that it did not write it."""
    flip_token(forged, "results/evals/sft/rep0/rollouts.parquet")
    remake_records(forged)
    models = folder_of_models(minute, forged.parent / "models")
    found = [v for v in verify(forged, Options(models=models, rerun="sft")) if "rollouts.parquet, sampled" in v.subject]
    assert [v.state for v in found] == ["statistical"], "one character is less than repetitions differ by"
    assert "turns is" in found[0].detail and "first difference" in found[0].detail


def folder_of_models(minute: Checkout, folder: Path) -> Path:
    """The models of the minute study, a folder each."""
    places = {"sft": "sft", "dense-seed0": "arms/dense/seed0", "sparse-seed0": "arms/sparse/seed0"}
    for run, place in places.items():
        shutil.copytree(minute.results / place / "model", folder / run)
    return folder


def test_a_repetition_sampled_again_is_the_same_bit_for_bit(release: Path, minute: Checkout, tmp_path: Path) -> None:
    models = folder_of_models(minute, tmp_path / "models")
    verdicts = {v.subject: v for v in verify(release, Options(models=models, rerun="dense"))}
    assert verdicts["model of dense-seed0"].state == "bit-exact"
    assert verdicts["results/minute/evals/dense-seed0/rep0/rollouts.parquet, sampled again"].state == "bit-exact"


def test_a_swapped_adapter_is_found(release: Path, minute: Checkout, tmp_path: Path) -> None:
    models = folder_of_models(minute, tmp_path / "models")
    weights = models / "dense-seed0" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\1")
    found = first_failure(release, models=models)
    assert found is not None and found.subject == "model of dense-seed0"
    assert found.difference is not None and found.difference.field == "SHA-256"


def test_a_release_taken_back_gives_the_same_page_without_training(
    release: Path, fresh: Checkout, branch: Callable[[Checkout], Checkout], minute: Checkout
) -> None:
    clone = branch(fresh)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(clone.folder)
        bring(release, Path("results/minute"))
    assert clone.jobs("report", "--config", "study=config/test/minute.yaml") == {"report": 1}
    done = clone.snakemake("--cores", "1", "report", "--config", "study=config/test/minute.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    for name in ("report/index.html", "report/viewer.html", "report/rollouts/index.js", "stats/analysis.json"):
        assert (clone.results / name).read_bytes() == (minute.results / name).read_bytes(), name
    assert (
        clone.jobs("analysis", "audits", "--forcerun", "analysis", "--config", "study=config/test/minute.yaml")[
            "analysis"
        ]
        == 1
    )
    again = clone.snakemake("--cores", "1", "-R", "analysis", "audits", "--config", "study=config/test/minute.yaml")
    assert again.returncode == 0, again.stdout + again.stderr
    assert (clone.results / "stats/analysis.json").read_bytes() == (minute.results / "stats/analysis.json").read_bytes()


def test_a_release_is_taken_back_under_its_own_name_and_whole_only(forged: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="write --into results/minute"):
        bring(forged, tmp_path / "results/other")
    (forged / "tables/results.parquet").unlink()
    with pytest.raises(DataError, match="tables/results.parquet: found is 'absent'|tables/results.parquet"):
        bring(forged, tmp_path / "results/minute")
    assert not (tmp_path / "results").exists()


def test_the_command_names_the_first_difference_and_fails(
    forged: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    CORRUPTIONS["changed seed"](forged)
    remake_records(forged)
    assert main(["verify", str(forged), "--regrade", "none"]) == 1
    said = capsys.readouterr().out
    assert "NOT verified" in said and "run dense-seed0, repetition 1, case" in said and "sampling_seed is" in said
    assert main(["verify", str(tmp_path / "nothing")]) == 2
