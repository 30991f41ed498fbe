"""A repetition, sampled again from the record of its evaluation, where the model is at hand.

On a machine of the same kind every bit is the same. On another one the draws differ where rounding tips a token; then
the two must not differ by more than repetitions of one checkpoint differ anyway.
"""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from tiebreak.errors import DataError
from tiebreak.paths import BASE_ARM, job_name, run_name
from tiebreak.publish.check_files import check_model
from tiebreak.publish.context import Context
from tiebreak.publish.differences import compared
from tiebreak.publish.records import Record
from tiebreak.publish.replay import replay
from tiebreak.publish.verdicts import Verdict
from tiebreak.stats.bootstrap import cluster_interval
from tiebreak.stats.counts import counts
from tiebreak.stats.noise import floor

REPETITION = 0


def check_rerun(context: Context, wanted: str, models: Path | None) -> Iterator[Verdict]:
    """Sample repetition 0 of a run (or of an arm's first run) again and compare. Raises DataError without its model."""
    run = run_of(context, wanted)
    record = context.job(job_name("evaluation", {"rep": str(REPETITION), "run": run}))
    if record is None:
        raise DataError(f"--rerun {wanted}: the release has no record of evaluation {REPETITION} of {run}")
    place_model(context, run, models)
    yield check_model(f"model of {run}, sampled again", context.paths.model(run), context.manifest.models[run])
    outputs = dict(zip((item["name"] for item in record["outputs"]), replay(record, context.place), strict=True))
    yield agreement(context, record, run, outputs["rollouts"])


def run_of(context: Context, wanted: str) -> str:
    """The run that is meant. Raises DataError with the names that there are."""
    candidates = [wanted, run_name(wanted, context.study.training_seeds[0])]
    found = next((name for name in candidates if name in context.study.runs), None)
    if found is None:
        known = ", ".join([BASE_ARM, *context.study.arms])
        raise DataError(f"--rerun {wanted}: the study has no such arm or run; its arms are {known}")
    return found


def place_model(context: Context, run: str, models: Path | None) -> None:
    """Put the run's model where its evaluation looks for it."""
    folder = None if models is None else models / run
    if folder is None or not folder.is_dir() or run not in context.manifest.models:
        raise DataError(
            f"--rerun {run}: needs --models FOLDER with the run's model in FOLDER/{run} (not a stopped run)"
        )
    context.paths.model(run).parent.mkdir(parents=True, exist_ok=True)
    context.paths.model(run).symlink_to(folder.resolve())


def agreement(context: Context, record: Record, run: str, anew: Path) -> Verdict:
    """Bit for bit, or within what repetitions differ by."""
    path = context.paths.rollouts(run, REPETITION)
    name = f"{context.named(path)}, sampled again"
    exact = compared(path, anew, name)
    if not exact.fails:
        return Verdict(name, exact.state, "every token, seed, reply and grade is the same", len(counts([path])))
    first, second = counts([path]), counts([anew]).assign(repetition=REPETITION + 1)
    pair = floor(pd.concat([first, second]))["pairs"][0]
    usual = floor(
        counts(context.paths.rollouts(r, rep) for r in context.study.runs for rep in context.study.repetitions)
    )
    deltas = (second["graded"] / second["n"]).to_numpy() - (first["graded"] / first["n"]).to_numpy()
    interval = cluster_interval(deltas, list(first["template"]), seed=context.study.root_seed)
    bounds = f"{interval.low} to {interval.high}"
    said = (
        f"first difference: {exact.detail}; {pair['flips']} of {pair['cases']} cases flip, at most "
        f"{usual['most_flips']} between stored repetitions; pass@1 moves by {interval.value:+.4f} ({bounds})"
    )
    within = usual["most_flips"] is not None and pair["flips"] <= usual["most_flips"] and not interval.excludes_zero
    return Verdict(
        name, "statistical" if within else "differs", said, pair["cases"], None if within else exact.difference
    )
