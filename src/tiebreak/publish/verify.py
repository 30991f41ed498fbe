"""Verification of a release, from its folder and nothing else: all that is said, computed again and compared."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tiebreak.errors import DeviceError, EngineError, SandboxError, TiebreakError
from tiebreak.publish import check_derived, check_files, manifest
from tiebreak.publish.check_jobs import check_jobs
from tiebreak.publish.check_replays import check_replays
from tiebreak.publish.check_rollouts import check_rollouts
from tiebreak.publish.check_stopped import check_stopped
from tiebreak.publish.check_whole import check_whole
from tiebreak.publish.context import Context, opening
from tiebreak.publish.regrade import check_grades
from tiebreak.publish.rerun import check_rerun
from tiebreak.publish.verdicts import Difference, Verdict, differs


@dataclass(frozen=True)
class Options:
    """regrade: how many rollouts are played again in the sandbox; None is all, and all cases and traces as well.
    seed: what those are drawn with; None draws one.
    models: a folder with a folder for each run's model. rerun: the arm or run whose repetition 0 is sampled again."""

    regrade: int | None = 0
    models: Path | None = None
    rerun: str | None = None
    seed: int | None = None


def verify(release: Path, options: Options) -> Iterator[Verdict]:
    """The verdicts on a release, one at a time. Raises DataError where the folder is no release at all.

    Every check goes on to its own first difference; a check that cannot even read what it needs fails with the reason.
    """
    yield from check_files.check_manifest(release, manifest.read(release))
    with opening(release) as context:
        for check in checks(context, options):
            yield from safely(check)


def checks(context: Context, options: Options) -> Iterator[Callable[[], Iterator[Verdict]]]:
    """All checks, what is cheap and telling first."""
    yield lambda: check_whole(context)
    yield lambda: check_told(context)
    yield lambda: check_files.check_science(context)
    yield lambda: check_files.check_models(context, options.models)
    yield lambda: check_files.check_code(context)
    yield lambda: check_stopped(context)
    yield lambda: check_rollouts(context)
    yield lambda: check_derived.check_summaries(context)
    yield lambda: check_derived.check_decisions(context)
    yield lambda: check_derived.check_training(context)
    yield lambda: check_derived.check_bands(context)
    yield lambda: check_derived.check_tables(context)
    yield lambda: run_again(context, partial(check_replays, context, programs=options.regrade is None))
    yield lambda: check_derived.check_card(context)
    yield lambda: check_derived.check_crate(context)
    if options.regrade != 0:
        yield lambda: check_grades(context, options.regrade, options.seed)
    if options.rerun is not None:
        yield lambda: run_again(context, partial(check_rerun, context, str(options.rerun), options.models))


def check_told(context: Context) -> Iterator[Verdict]:
    """What records say of jobs and files; the context is no longer sound where a verdict fails."""
    for check in (check_jobs, check_files.check_records):
        for verdict in safely(partial(check, context)):
            context.sound = context.sound and not verdict.fails
            yield verdict


def run_again(context: Context, check: Callable[[], Iterator[Verdict]]) -> Iterator[Verdict]:
    """The verdicts of a check that runs jobs from their records; forged records may make them do anything."""
    if context.sound:
        yield from check()
    else:
        yield Verdict("jobs", "not re-run", "their records are not what study.json and the files say: none is run")


def safely(check: Callable[[], Iterator[Verdict]]) -> Iterator[Verdict]:
    """The verdicts of a check; where it breaks, that is a failing verdict: a forged file may break anything.

    Raises what is wrong with this machine: a sandbox, engine or device that cannot be had says nothing of a release.
    """
    try:
        yield from check()
    except (SandboxError, EngineError, DeviceError):
        raise
    except TiebreakError as error:
        yield differs("a check", Difference("release", "", str(error), "files that can be read"))
    except Exception as error:  # whatever a forged file makes a check raise is a finding, not a crash
        said = f"{type(error).__name__}: {error}"
        yield differs("a check", Difference("release", "", said, "files that can be checked"))
