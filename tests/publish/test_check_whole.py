"""What the manifest says of the whole is compared with study and records; a file without a place is named."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tiebreak import gates
from tiebreak.paths import Paths
from tiebreak.publish.check_whole import check_whole
from tiebreak.publish.context import Context
from tiebreak.publish.manifest import Manifest
from tiebreak.publish.release import license_text
from tiebreak.study import load

COMMIT = "c" * 40


@pytest.fixture
def context(tmp_path: Path) -> Context:
    """The minute study; its run of arm dense was stopped."""
    study, paths = load("config/test/minute.yaml"), Paths("minute", tmp_path / "results")
    for run in study.trained_runs:
        gates.write(paths.decision(run), gates.Decision("trial", run != "dense-seed0", "", {}, None, run))
    (tmp_path / "LICENSE").write_text(license_text(study))
    records: list[dict[str, Any]] = [{"rule": "report", "git": {"commit": COMMIT}}]
    model = {"outputs": [{"name": "model", "sha256": "a"}]}
    records += [{"rule": "sft", "wildcards": {}} | model]
    records += [{"rule": "rlvr", "wildcards": {"arm": arm, "seed": "0"}} | model for arm in study.arms]
    models = {run: {"digest": "a", "files": {}, "repo": None} for run in ("sft", "sparse-seed0")}
    files = {name: {} for name in ("README.md", "results/data.zip", "tables/results.parquet", "workflow/Snakefile")}
    manifest = Manifest("minute", COMMIT, study.root_seed, files, "d", models)
    found = SimpleNamespace(release=tmp_path, paths=paths, study=study, records=records, manifest=manifest)
    return cast(Context, found)


def verdict(context: Context, **changes: Any) -> str:
    context.manifest = replace(context.manifest, **changes)
    (found,) = check_whole(context)
    return f"{found.state}: {found.detail}"


def test_a_true_manifest_passes(context: Context) -> None:
    assert verdict(context).startswith("bit-exact")


@pytest.mark.parametrize(
    ("field", "value"),
    [("study", "glyph"), ("root_seed", 1), ("commit", "d" * 40), ("models", {})],
)
def test_a_word_that_is_not_the_studys_is_named(context: Context, field: str, value: Any) -> None:
    assert verdict(context, **{field: value}).startswith(f"differs: manifest.json: {field} is ")


@pytest.mark.parametrize(("field", "value"), [("digest", "b"), ("repo", "anna/other")])
def test_a_model_that_is_not_the_recorded_one_is_named(context: Context, field: str, value: str) -> None:
    models = {run: {**model, field: value} for run, model in context.manifest.models.items()}
    assert f"models.sft.{field} is '{value}'" in verdict(context, models=models)


def test_the_model_of_a_stopped_run_is_one_too_many(context: Context) -> None:
    assert "models is" in verdict(context, models=context.manifest.models | {"dense-seed0": {}})


@pytest.mark.parametrize("name", ["more.md", "patches/x.txt", "other/x.parquet", "workflow/x"])
def test_a_file_without_a_place_is_named(context: Context, name: str) -> None:
    assert verdict(context, files={**context.manifest.files, name: {}}).startswith(f"differs: {name}: 'there'")


def test_another_licence_is_named(context: Context) -> None:
    (context.release / "LICENSE").write_text("MIT")
    assert "LICENSE is 'MIT'" in verdict(context)
