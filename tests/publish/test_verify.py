"""Verification as a whole: no job of forged records is run, and whatever a check raises is a verdict."""

import zlib
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest
from jinja2 import UndefinedError

from tiebreak.cli.verify import other_version
from tiebreak.errors import BlueprintError, SandboxError
from tiebreak.paths import Paths
from tiebreak.publish import check_files
from tiebreak.publish.context import Context
from tiebreak.publish.release import folder_of
from tiebreak.publish.verdicts import Difference, Verdict, differs
from tiebreak.publish.verify import check_told, run_again, safely

GOOD, BAD = Verdict("x", "bit-exact"), differs("x", Difference("f", "", 1, 2))
Check = Callable[[Any], Iterator[Verdict]]


def saying(verdict: Verdict) -> Check:
    """A check with this verdict."""
    return lambda context: iter([verdict])


def breaking(context: Any) -> Iterator[Verdict]:
    """A check that breaks over what it reads."""
    raise KeyError("outputs")


@pytest.mark.parametrize(
    ("jobs", "records", "ran"),
    [
        (saying(GOOD), saying(GOOD), True),
        (saying(BAD), saying(GOOD), False),
        (saying(GOOD), saying(BAD), False),
        (breaking, saying(GOOD), False),
    ],
)
def test_jobs_are_run_only_from_records_that_agree(
    monkeypatch: pytest.MonkeyPatch, jobs: Check, records: Check, ran: bool
) -> None:
    monkeypatch.setattr("tiebreak.publish.verify.check_jobs", jobs)
    monkeypatch.setattr(check_files, "check_records", records)
    context = cast(Context, SimpleNamespace(sound=True))
    told = list(check_told(context))
    assert len(told) == 2 and context.sound == ran == (not any(verdict.fails for verdict in told))
    again = list(run_again(context, lambda: iter([GOOD])))
    assert [verdict.state for verdict in again] == ["bit-exact" if ran else "not re-run"]


@pytest.mark.parametrize(
    "problem", [zlib.error("x"), RuntimeError("x"), RecursionError("x"), UndefinedError("x"), BlueprintError("x")]
)
def test_whatever_a_file_makes_a_check_raise_is_a_verdict(problem: Exception) -> None:
    (verdict,) = safely(lambda: raising(problem))
    assert verdict.fails and verdict.detail.startswith("release: ") and "x" in verdict.detail


def test_what_this_machine_lacks_says_nothing_of_a_release() -> None:
    with pytest.raises(SandboxError):
        list(safely(lambda: raising(SandboxError("no bubblewrap"))))


def raising(problem: Exception) -> Iterator[Verdict]:
    """A check that raises."""
    raise problem
    yield


def test_a_difference_that_another_version_may_have_made_says_so(paths: Paths) -> None:
    release = folder_of(paths)
    assert other_version(release, [GOOD]) == []
    (said,) = other_version(release, [GOOD, BAD])
    assert said.startswith(f"the release is of commit {'c' * 40}, this is ") and "verify it in a checkout of" in said
