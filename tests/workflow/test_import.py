"""The data of a study that imports the published specs, under the real Snakemake."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest
from domains.rust.imports.specs import GLYPH, reply, spec

from tiebreak.audits.shingles import similarity
from tiebreak.domains.rust.blueprints import load_blueprints
from tiebreak.domains.rust.shared_code import forms
from tiebreak.gates import read

if TYPE_CHECKING:
    from conftest import Checkout

pytestmark = pytest.mark.slow
STUDY = "config/test/import.yaml"
OPTIONS = ("--config", f"study={STUDY}")
published = pytest.mark.skipif(not GLYPH.is_dir(), reason="the published data (../shared/data) is absent")


def run(checkout: Checkout, target: str = "data") -> Any:
    return checkout.snakemake("--cores", "2", target, *OPTIONS)


@pytest.fixture(scope="module")
def imported(fresh: Checkout, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A copy in which the data of the import study are made, from where the published data lie here."""
    checkout = fresh.copy_to(tmp_path_factory.mktemp("imported") / "main")
    path = checkout.folder / STUDY
    path.write_text(path.read_text(encoding="utf-8").replace("../shared/data/glyph", str(GLYPH)), encoding="utf-8")
    done = run(checkout)
    assert done.returncode == 0, done.stdout + done.stderr
    return checkout


@published
def test_the_published_specs_become_cases_and_rejects_as_published(imported: Checkout) -> None:
    data = imported.folder / "results/import/data"
    rows = [json.loads(line) for line in (GLYPH / "specs.jsonl").read_text(encoding="utf-8").splitlines()]
    accepted = {row["custom_id"].replace("-", "_") for row in rows if row["published_outcome"] == "accepted"}
    cases = load_blueprints(data / "cases.jsonl")
    assert len(cases) == 167
    assert all(any(case.case_id.startswith(f"{name}_") for name in accepted) for case in cases)
    rejects = [json.loads(line) for line in (data / "rejects.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(rejects) == 33 and sum("invalid JSON spec" in reject["errors"][0] for reject in rejects) == 2
    log = (imported.folder / "logs/import/blueprints.log").read_text(encoding="utf-8")
    assert "198 blueprints from" in log and "0 have hidden checks" in log


@published
def test_no_case_of_a_split_is_too_near_to_one_of_another(imported: Checkout) -> None:
    """By all pairs, not by the search that made the splits."""
    data = imported.folder / "results/import/data"
    splits = json.loads((data / "splits.json").read_text(encoding="utf-8"))
    sources = {case.case_id: forms(case) for case in load_blueprints(data / "cases.jsonl")}
    for held in splits["holdout"]:
        for other in [*splits["pool"], *splits["sft"]]:
            pairs = [(one, two) for one in sources[held].values() for two in sources[other].values()]
            assert max(similarity(*pair) for pair in pairs) <= 0.92
    gate = read(imported.folder / "results/import/gates/leakage.json")
    assert gate.go and gate.threshold == 0.92
    (holdout,) = (row for row in gate.measure["near"] if (row["split"], row["against"]) == ("holdout", "sft"))
    assert holdout["cases"] == len(splits["holdout"]) and holdout["over"] == 0
    assert gate.measure["templates"]["holdout"]["templates"] < len(splits["holdout"]), "name families cluster some"


@published
def test_the_data_page_tells_why_specs_were_rejected(imported: Checkout) -> None:
    page = (imported.folder / "results/import/data/report/index.html").read_text(encoding="utf-8")
    assert "80 cases for sft, 20 cases for pool, 40 cases for holdout; 33 specs were rejected" in page
    assert "invalid JSON spec" in page and "cargo_test status success != failed" in page


@published
def test_overlap_of_prompts_and_answers_stands_in_the_record(imported: Checkout) -> None:
    gate = read(imported.folder / "results/import/gates/leakage.json")
    found = {(row["what"], row["split"], row["against"]): row for row in gate.measure["overlap"]}
    sides = [("pool", "holdout"), ("holdout", "sft"), ("pool", "sft")]
    assert set(found) == {(what, *side) for what in ("prompt", "answer") for side in sides}
    for row in found.values():
        assert 0 <= row["exact"] <= row["whole"] <= row["half"] <= row["cases"] and 0 <= row["mean"] <= 1
        assert all(shared["text"] and shared["other_text"] for shared in row["top"])
    assert found["prompt", "holdout", "sft"]["cases"] == 40


@published
def test_every_sft_case_has_its_trace(imported: Checkout) -> None:
    data = imported.folder / "results/import/data"
    splits = json.loads((data / "splits.json").read_text(encoding="utf-8"))
    rows = pq.read_table(data / "sft.parquet").to_pylist()
    assert sorted(row["case_id"] for row in rows) == splits["sft"]


@published
def test_an_edited_file_of_specs_makes_the_data_anew(
    imported: Checkout, branch: Callable[[Checkout], Checkout]
) -> None:
    checkout = branch(imported)
    assert checkout.jobs("data", *OPTIONS) == {}
    own = checkout.folder / "specs"
    own.mkdir()
    (own / "specs.jsonl").write_bytes((GLYPH / "specs.jsonl").read_bytes())
    checkout.edit(STUDY, f"dataset: {GLYPH}", f"dataset: {own}")
    assert checkout.jobs("data", *OPTIONS)["blueprints"] == 1


def own_study(checkout: Checkout, folder: Path, **changes: str) -> Checkout:
    """The import study with another dataset."""
    path = checkout.folder / STUDY
    text = path.read_text(encoding="utf-8").replace("../shared/data/glyph/name_families.json", "null")
    for old, new in {"../shared/data/glyph": str(folder), **changes}.items():
        assert old in text
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")
    return checkout


def test_good_rows_are_kept_and_rejects_are_a_file(
    fresh: Checkout, branch: Callable[[Checkout], Checkout], tmp_path: Path
) -> None:
    lines = [reply("a", spec()), reply("b", spec())[:100] + "\n", reply("c", spec(case_id="../x"))]
    (tmp_path / "specs.jsonl").write_text("".join(lines))
    checkout = own_study(branch(fresh), tmp_path)
    done = run(checkout, "results/import/data/cases.jsonl")
    assert done.returncode == 0, done.stderr
    data = checkout.folder / "results/import/data"
    assert [case.case_id for case in load_blueprints(data / "cases.jsonl")] == ["a_one_more"]
    rejects = [json.loads(line) for line in (data / "rejects.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [reject["case_id"] for reject in rejects] == ["line 2", "c"]


def test_a_wrong_revision_is_one_clear_error(
    fresh: Checkout, branch: Callable[[Checkout], Checkout], tmp_path: Path
) -> None:
    (tmp_path / "specs.jsonl").write_text(reply("a", spec()))
    revision = "0" * 64
    checkout = own_study(
        branch(fresh), tmp_path, **{"specs: specs.jsonl": f"specs: specs.jsonl\n      revision: '{revision}'"}
    )
    done = run(checkout, "results/import/data/blueprints.jsonl")
    assert done.returncode == 1
    errors = [line for line in done.stderr.splitlines() if line.startswith("blueprints: ")]
    assert len(errors) == 1 and f"the study's revision is {revision}; they were changed" in errors[0]
    assert "Traceback" not in done.stderr


def test_a_dataset_that_is_not_there_is_one_clear_error(
    fresh: Checkout, branch: Callable[[Checkout], Checkout], tmp_path: Path
) -> None:
    checkout = own_study(branch(fresh), tmp_path / "none")
    done = run(checkout, "results/import/data/blueprints.jsonl")
    assert done.returncode == 1 and "there is no such folder; name a folder, or a dataset of the hub" in done.stderr
