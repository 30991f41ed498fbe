"""The table of jobs is the rules', and a record that leaves it is named, however well its digests are mended."""

import copy
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tiebreak.chain import job_of
from tiebreak.digest import file_digest
from tiebreak.paths import Paths
from tiebreak.publish.check_files import patches_apart
from tiebreak.publish.check_jobs import READS, jobs_apart
from tiebreak.publish.context import Context
from tiebreak.publish.wanted import TOOLS, wanted_jobs
from tiebreak.publish.wanted_params import DIGESTS, OF_RULE, wanted_params
from tiebreak.study import Study, load

Record = dict[str, Any]
NEVER_RELEASED = {"all", "data", "evals", "data_page", "release", "publish"}


@pytest.fixture(scope="module")
def minute() -> Study:
    return load("config/test/minute.yaml")


@pytest.fixture
def records(minute: Study) -> list[Record]:
    """The records of all jobs of the minute study, as far as they are compared."""
    found = []
    for job in wanted_jobs(minute, made_base=True).values():
        params = wanted_params(minute, job.rule, job.wildcards) | dict.fromkeys(DIGESTS, "0" * 64)
        if job.rule == "report":
            params["asked"] = "config/test/minute.yaml"
        sides = {"inputs": spelled(job.inputs), "outputs": spelled(job.outputs)}
        found.append({"rule": job.rule, "wildcards": dict(job.wildcards), "params": params} | sides)
    return copy.deepcopy(found)


def spelled(files: Any) -> list[dict[str, str]]:
    """Names and paths as a record has them."""
    pairs: list[tuple[str, str]] = []
    for name, value in files.items():
        pairs += [(name, value)] if isinstance(value, str) else [(f"{name}.{n}", path) for n, path in enumerate(value)]
    return [{"name": name, "path": path} for name, path in pairs]


def blocks() -> Iterator[tuple[str, str]]:
    """The rules' names and texts."""
    for path in sorted(Path("rules").glob("*.smk")):
        _, *parts = re.split(r"^rule (?=\w+:)", path.read_text(encoding="utf-8"), flags=re.M)
        yield from ((part.partition(":")[0], part) for part in parts)


def names_in(block: str, part: str) -> dict[str, str]:
    """The names of a rule's input, output or params, with what stands behind them."""
    found = re.search(rf"^    {part}:\n((?:        .*\n|\n)*)", block, flags=re.M)
    entries = re.split(r"^        (\w+)=", found[1], flags=re.M)[1:] if found else []
    return dict(zip(entries[::2], entries[1::2], strict=True))


RULES = {name: text for name, text in blocks() if name not in NEVER_RELEASED}


def test_the_table_has_every_rule_and_the_parameters_of_each() -> None:
    assert set(RULES) == set(OF_RULE)
    for rule, text in RULES.items():
        named = set(names_in(text, "params")) - {"study", *DIGESTS}
        if rule != "report":
            named -= {"asked"}
        assert named == set(OF_RULE[rule]), rule


def studies() -> list[Study]:
    """One of each domain; the last has every job that there is but tools."""
    glyph = load("config/studies/glyph.yaml")
    return [load("config/test/minute.yaml"), load("config/test/fathom-minute.yaml"), glyph]


def test_the_table_has_the_files_of_the_rules() -> None:
    seen = set()
    for study in studies():
        for job in wanted_jobs(study, made_base=True).values():
            seen.add(job.rule)
            outputs = {name: re.findall(r'"(<results>[^"]*)"', text) for name, text in out_of(job.rule)}
            wildcards = job.wildcards
            spelled_out = {
                name: found[0].replace("<results>", f"results/{study.name}").format(**wildcards)
                for name, found in outputs.items()
            }
            assert dict(job.outputs) == spelled_out, job.name
            inputs = set(names_in(RULES[job.rule], "input"))
            assert set(job.inputs) <= inputs, job.name
            optional = {*READS.get(job.rule, ()), "bands", "budgets", "replies"}
            optional |= {"rollouts", "timings"} if job.rule == "evaluation" else set()
            assert inputs - set(job.inputs) <= optional, job.name
    assert set(RULES) - set(TOOLS) - seen <= {"replies", "budgets", "shard", "bands"}


def out_of(rule: str) -> list[tuple[str, str]]:
    """The outputs of a rule."""
    return list(names_in(RULES[rule], "output").items())


def test_the_jobs_of_the_rules_pass(minute: Study, records: list[Record]) -> None:
    assert list(jobs_apart(minute, records)) == []


def of(records: list[Record], name: str) -> Record:
    return next(record for record in records if job_of(record) == name)


def hang_on(records: list[Record]) -> None:
    """The analysis's outputs on a job that is not run again."""
    of(records, "tokens")["outputs"] += of(records, "analysis")["outputs"]
    records.remove(of(records, "analysis"))


def fed(records: list[Record]) -> None:
    of(records, "analysis")["inputs"][0]["path"] = "results/minute/records/x0.parquet"


def rename(records: list[Record]) -> None:
    of(records, "analysis")["rule"] = "made_up"


def outside(records: list[Record]) -> None:
    of(records, "report")["inputs"].append({"name": "pages.0", "path": "results/minute/records/x.html"})


FORGERIES: dict[str, tuple[Callable[[list[Record]], Any], str]] = {
    "outputs on another job": (hang_on, "no record of job analysis"),
    "another input": (fed, "records.jsonl, analysis: inputs"),
    "unknown rule": (rename, "no record of job analysis"),
    "page from the results": (outside, "records.jsonl, report: inputs.pages"),
    "two records": (lambda records: records.append(of(records, "arm-dense")), "2 records of job arm-dense"),
    "another job": (lambda records: records.append(of(records, "arm-dense") | {"wildcards": {"arm": "x"}}), "arm-x"),
    "input left out": (lambda records: of(records, "audits")["inputs"].pop(), "records.jsonl, audits: inputs"),
    "output left out": (lambda records: of(records, "audits")["outputs"].pop(), "records.jsonl, audits: outputs"),
    "parameter left out": (lambda records: of(records, "analysis")["params"].pop("k"), "params.k"),
    "parameter too many": (lambda records: of(records, "arm-dense")["params"].update(extra=1), "params.extra"),
    "code is no digest": (lambda records: of(records, "cases")["params"].update(code="new"), "params.code"),
    "another arm's shape": (
        lambda records: of(records, "probe-dense-seed0")["params"].update(shapes={}),
        "probe-dense-seed0: params.shapes",
    ),
    "settings left out": (lambda records: of(records, "analysis")["params"].update(statistics={}), "params.statistics"),
    "more threads": (lambda records: of(records, "sft")["params"].update(threads=9), "params.threads"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_record_that_leaves_the_rules_is_named(minute: Study, records: list[Record], name: str) -> None:
    forge, said = FORGERIES[name]
    forge(records)
    found = list(jobs_apart(minute, records))
    assert found and said in found[0].text()


def test_a_default_may_be_younger_than_the_record(minute: Study, records: list[Record]) -> None:
    del of(records, "analysis")["params"]["statistics"]["cluster"]
    assert list(jobs_apart(minute, records)) == []


@pytest.mark.parametrize("base", ["resources/base/model", "results/laptop/base/model"])
def test_a_base_in_a_folder_is_the_one_that_the_study_names(minute: Study, records: list[Record], base: str) -> None:
    model = minute.model.model_copy(update={"base": base})
    study = minute.model_copy(update={"model": model})
    kept = [record for record in records if record["rule"] != "base"]
    for record in kept:
        if "model" in record["params"]:
            record["params"]["model"]["base"] = base
        for item in record["inputs"]:
            item["path"] = base if item["name"] == "base" else item["path"]
    assert list(jobs_apart(study, kept)) == []
    next(item for item in of(kept, "sft")["inputs"] if item["name"] == "base")["path"] = "resources/other/model"
    assert [found.field for found in jobs_apart(study, kept)] == ["inputs.base"]


@pytest.mark.parametrize(
    ("path", "count"),
    [("data/specs.jsonl", 0), ("../data/specs.jsonl", 0), ("/data/specs.jsonl", 0), ("x/../results/minute/x.jsonl", 1)],
)
def test_imported_specs_lie_anywhere_but_among_the_results(
    minute: Study, records: list[Record], path: str, count: int
) -> None:
    of(records, "blueprints")["inputs"].append({"name": "imported.0", "path": path})
    assert len(list(jobs_apart(minute, records))) == count


def test_a_patch_is_what_its_name_says_and_some_record_names_it(tmp_path: Path) -> None:
    paths = Paths("s", tmp_path)
    paths.patches.mkdir(parents=True)
    (tmp_path / "x").write_text("a change\n")
    digest = file_digest(tmp_path / "x")
    named = {"git": {"patch": {"sha256": digest, "kept": True}}}
    context = cast(Context, SimpleNamespace(paths=paths, records=[named, {"git": {}}]))
    assert [found.found for found in patches_apart(context)] == ["absent"]
    (paths.patches / f"{digest}.patch").write_text("a change\n")
    assert list(patches_apart(context)) == []
    (paths.patches / f"{digest}.patch").write_text("another\n")
    assert [found.field for found in patches_apart(context)] == ["SHA-256"]
    (paths.patches / "other.patch").write_text("a change\n")
    assert "other.patch" in next(patches_apart(context)).file
