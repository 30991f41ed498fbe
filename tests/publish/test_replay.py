"""A record as a script sees it when its job is run again; a record of a forger leads nowhere."""

from pathlib import Path
from typing import Any

import pytest

from tiebreak.errors import DataError
from tiebreak.job import named, plain
from tiebreak.publish.opened import plain_name
from tiebreak.publish.replay import Task, replay


def record(**changes: Any) -> dict[str, Any]:
    inputs = [{"name": "cases", "path": "results/s/c"}]
    inputs += [{"name": f"many.{n}", "path": f"results/s/{n}"} for n in range(12)]
    return {
        "rule": "prompts",
        "wildcards": {"arm": "dense"},
        "params": {"study": "s", "k": 2, "shapes": {"b": 1, "a": 2}},
        "inputs": inputs,
        "outputs": [{"name": "pool", "path": "results/s/pool"}],
        "environment": {"OMP_NUM_THREADS": None},
    } | changes


def test_a_script_is_given_what_its_record_says() -> None:
    task = Task(record())
    assert task.input.cases == task.input["cases"] == next(iter(task.input)) == "results/s/c"
    assert task.input.many == [f"results/s/{n}" for n in range(12)] and len(list(task.input)) == 13
    assert task.output.pool == "made/results/s/pool" and task.wildcards.arm == "dense"
    assert task.params.get("k") == 2 and task.params.get("threads", 5) == 5
    assert list(plain(task.params)["shapes"]) == ["b", "a"], "the order of a study's arms says something"
    assert [name for name, _ in named(task.input)] == ["cases", *(f"many.{n}" for n in range(12))]
    assert task.input.none_of_these == [], "a record does not name what was empty"
    with pytest.raises(AttributeError):
        task.params.other  # noqa: B018


@pytest.mark.parametrize("path", ["/etc/passwd", "../up", "results/../../up"])
@pytest.mark.parametrize("side", ["inputs", "outputs"])
def test_a_path_that_leads_out_is_refused(side: str, path: str) -> None:
    with pytest.raises(DataError, match="leads out of the study"):
        Task(record(**{side: [{"name": "x", "path": path}]}))


def test_only_rules_of_this_version_are_run(tmp_path: Any) -> None:
    with pytest.raises(DataError, match="there is no rule evil in this version"):
        replay(record(rule="evil"), tmp_path)
    for name in ("../evil", "a/b", ".x", ""):
        with pytest.raises(DataError, match="is no job's name"):
            plain_name(name)


@pytest.mark.parametrize("study", ["/tmp/victim", "../up", "a/b", ".x", "", 7, None])
def test_a_job_works_in_the_folder_of_a_study_only(study: object, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is no study's name"):
        replay(record(params={"study": study}), tmp_path)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_record_asks_for_threads_within_reason(tmp_path: Path) -> None:
    for changes in ({"params": {"study": "s", "threads": 10**9}}, {"environment": {"OMP_NUM_THREADS": "0"}}):
        with pytest.raises(DataError, match="threads; at most 1024 are given"):
            Task(record(**changes))
    with pytest.raises(DataError, match="is no job's name"):
        Task(record(wildcards={"arm": "../../victim"}))
