"""A small release without a study behind it: real tables, a real analysis and page; models of a few bytes."""

import json
from pathlib import Path

import yaml
from stats.studies import counts_table

from tiebreak import tables
from tiebreak.digest import file_digest
from tiebreak.domains.rust.domain import FACTS
from tiebreak.job import write_json
from tiebreak.paths import Paths
from tiebreak.publish import manifest
from tiebreak.publish.card import card
from tiebreak.publish.loadable import write_loadable
from tiebreak.publish.packs import write_pack
from tiebreak.publish.publishing import write_model_cards
from tiebreak.publish.release import folder_of, repository
from tiebreak.publish.results_tables import RESULTS, TRAINING
from tiebreak.report.page import build
from tiebreak.stats.analysis import analyse
from tiebreak.study import Study, load

PUBLISH = {"dataset": "anna/tiebreak-minute", "models": "anna", "license": "cc-by-4.0"}
COMMIT = "c" * 40


def study_of(folder: Path, **publish: object) -> Study:
    """The minute study with a place to be published to."""
    values = yaml.safe_load(Path("config/test/minute.yaml").read_text(encoding="utf-8"))
    path = folder / "minute.yaml"
    path.write_text(yaml.safe_dump(values | {"publish": PUBLISH | publish}), encoding="utf-8")
    return load(path)


def rollout(case: str, sample: int) -> dict[str, object]:
    """A row of a table of rollouts, with two rewards or none."""
    turn = {"role": "assistant", "content": "FINAL: done", "tokens": 3, "sampling_seed": 7}
    about = {"case_id": case, "family": "test_only", "difficulty": "easy", "template": "level", "arm": "sft"}
    place = {"training_seed": None, "repetition": 0, "sample": sample, "root_seed": 7}
    outcome = {"stop": "final", "valid": False, "success": False, "graded": None if sample else False, "facts": None}
    rewards = [("dense", 1.5), ("sparse", 0.0)] if sample else []
    return {**about, **place, **outcome, "turns": [turn], "rewards": rewards, "new_tokens": 3, "truncated": False}


def build_release(root: Path, study: Study) -> Paths:
    """Write the release of `study` under root/results, with its models and their cards."""
    paths = Paths(study.name, root / "results")
    release = folder_of(paths)
    results = release / "results"
    write_json(release / "study.json", {"format": 1, "study": study.model_dump(mode="json", by_alias=True)})
    (release / "LICENSE").write_text("cc-by-4.0\n", encoding="utf-8")
    analysis = analyse(
        counts_table(seeds=1), alpha=0.05, cluster="template", k=2, seed=7, draws=100, arms=["sparse", "dense"]
    )
    write_json(results / "stats/analysis.json", analysis)
    build(analysis, {}, [], {}, {}, results / "report")
    packed = [path.relative_to(results).as_posix() for path in (results / "report/tables").iterdir()]
    write_pack(results / "report.zip", results, packed)
    for name in packed:
        (results / name).unlink()
    write_tables(release)
    record = {"rule": "report", "wildcards": {}, "started": "2026-01-01", "ended": "2026-01-02", "seconds": 1.0}
    about = {"params": {"code": "d"}, "git": {"commit": COMMIT, "dirty": False}, "host": {"name": "h"}, "outputs": []}
    line = json.dumps(record | about | {"environment": {"OMP_NUM_THREADS": "1"}, "inputs": []})
    (release / "records.jsonl").write_text(line + "\n", encoding="utf-8")
    (release / "ro-crate-metadata.json").write_text("{}\n", encoding="utf-8")  # its own tests make a real one
    (release / "README.md").write_text(card(release), encoding="utf-8")
    describe(paths, study)
    write_model_cards(study, paths)
    return paths


def write_tables(release: Path) -> None:
    """The tables that people load."""
    source = release.parent / "source"
    tables.write_table(
        source / "rollouts.parquet", [rollout("a", 0), rollout("a", 1), rollout("b", 0)], tables.rollouts(FACTS)
    )
    write_json(source / "splits.json", {"sft": ["b"], "pool": [], "holdout": ["a"]})
    cases = [{"case_id": name, "family": "test_only", "template": "level", "files": {"x": name}} for name in "ab"]
    (source / "cases.jsonl").write_text("\n".join(map(json.dumps, cases)), encoding="utf-8")
    write_loadable(release / "tables", [source / "rollouts.parquet"], source / "cases.jsonl", source / "splits.json")
    result = dict.fromkeys(RESULTS.names, 1) | dict.fromkeys(
        ("study", "run", "arm", "case_id", "family", "template"), "a"
    )
    step = dict.fromkeys(TRAINING.names) | dict.fromkeys(("study", "run", "arm"), "a")
    tables.write_table(release / "tables/results.parquet", [result], RESULTS)
    tables.write_table(
        release / "tables/training.parquet", [step | {"training_seed": 0, "root_seed": 7, "step": 1}], TRAINING
    )


def describe(paths: Paths, study: Study) -> None:
    """The models, and the manifest over everything."""
    models = {}
    for run in study.runs:
        paths.model(run).mkdir(parents=True, exist_ok=True)
        weights = paths.model(run) / "model.safetensors"
        weights.write_bytes(run.encode())
        models[run] = {
            "digest": "d" * 64,
            "files": {weights.name: file_digest(weights)},
            "repo": repository(study, run),
        }
    remake_manifest(paths, study, models)


def remake_manifest(paths: Paths, study: Study, models: dict[str, dict[str, object]] | None = None) -> None:
    """Write the manifest of what lies in the release now."""
    release = folder_of(paths)
    models = models or dict(manifest.read(release).models)  # type: ignore[arg-type]
    files = manifest.digests(release)
    manifest.write(release, manifest.Manifest(study.name, COMMIT, study.root_seed, files, "s" * 64, models))
