"""A study in small before money is spent: each stage once, on a handful of cases, by the functions that the rules call.

It says what stops the study (a no-go), what was fine, and what could not be tried on this machine. What it makes lies
in a folder of the caller's; `results/` is read and never written.
"""

import io
import time
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr
from pathlib import Path

from tiebreak.errors import TiebreakError
from tiebreak.job import set_threads
from tiebreak.paths import Paths
from tiebreak.smoke.part import Line, NotHereError, Slice, State, StopError
from tiebreak.smoke.tasks import data, parity
from tiebreak.smoke.training import model, rlvr, sft, ties
from tiebreak.study import Study


def smoke(study: Study, paths: Paths, folder: Path, *, gpu: bool) -> Iterator[Line]:
    """Try the stages in order, a line each as soon as it is done. gpu: whether the study's device is here."""
    set_threads(study.rlvr.threads)
    part = Slice(study, paths, folder, gpu)
    for stage in (data, parity, model, sft, ties, rlvr):
        yield tried(stage, part)


def tried(stage: Callable[[Slice], str], part: Slice) -> Line:
    """The line of one stage. Whatever goes wrong in it is a no-go: it would go wrong in the study as well."""
    started = time.perf_counter()
    state: State = "no-go"
    try:
        with redirect_stderr(io.StringIO()):
            found, state = stage(part), "ok"
    except NotHereError as error:
        found, state = str(error), "not tried"
    except (StopError, TiebreakError) as error:
        found = str(error)
    except Exception as error:  # any other, too: a person wants the verdict, and the other stages
        found = f"{type(error).__name__}: {error}"
    return Line(stage.__name__, state, found, time.perf_counter() - started)
