"""Checks by running again what needs no model: each job anew from its record, its files against those released."""

from collections.abc import Iterator

from tqdm import tqdm

from tiebreak.chain import job_of
from tiebreak.errors import DataError
from tiebreak.publish.context import Context
from tiebreak.publish.differences import compared
from tiebreak.publish.records import Record, files_of, is_left_out
from tiebreak.publish.replay import MADE, replay
from tiebreak.publish.verdicts import Difference, Verdict, differs

WITHOUT_PROGRAMS = ("splits", "leakage", "prompts", "parity", "ties", "arm", "analysis", "audits", "report")
WITH_PROGRAMS = ("cases", "traces")
REASONS = {
    "replies": "a language model's replies are data, no model repeats them",
    "base": "the base model is trained: its weights and losses need that training",
    "tokens": "needs the base's tokenizer, which is not in the release",
    "sft": "the training and its losses need the base, and its hours",
    "trial": "the training and its losses need the SFT model, and its hours",
    "rlvr": "the training and its losses need the SFT model, and its hours",
    "evaluation": "who samples is the model: compare with --rerun RUN where it is at hand",
    "shard": "who samples is the model",
    "vllm_server": "installs what samples",
    "probe": "who samples is the model: compare with --rerun RUN where it is at hand",
    "bands": "who samples is the model",
    "budgets": "who samples is the model",
}


def check_replays(context: Context, *, programs: bool) -> Iterator[Verdict]:
    """Every job that needs no model, run again. programs: also those that run cargo or a REPL on every case."""
    rules = (*WITHOUT_PROGRAMS, *(WITH_PROGRAMS if programs else ()), *generated(context))
    again = [record for record in context.records if record["rule"] in rules]
    again.sort(key=lambda record: (record["started"], job_of(record)))
    for record in tqdm(again, desc="jobs run again", unit="job", mininterval=1):
        yield from check_job(context, record)
    yield from left_out(context, rules)


def generated(context: Context) -> tuple[str, ...]:
    """The rule of the blueprints, where all of them come from the generator."""
    source = context.parts["data"]["source"]
    others = [name for name, part in source.items() if name != "generate" and part is not None]
    return () if others else ("blueprints",)


def check_job(context: Context, record: Record) -> Iterator[Verdict]:
    """The verdicts on the files of one job."""
    try:
        outputs = replay(record, context.place)
    except Exception as error:  # whatever a forged input makes a job raise is a finding, not a crash
        words = str(error) if isinstance(error, DataError) else f"{type(error).__name__}: {error}"
        yield differs(f"job {job_of(record)}", Difference(job_of(record), "", words, "a job that can be run again"))
        return
    for item, output in zip(record["outputs"], outputs, strict=True):
        if is_left_out(record, item["name"]):
            continue
        anew = {path.relative_to(context.place / MADE).as_posix() for path in files_of(output)}
        for name in sorted(anew | {context.named(path) for path in files_of(context.place / item["path"])}):
            yield compared(context.place / name, context.place / MADE / name, name)


def left_out(context: Context, rules: tuple[str, ...]) -> Iterator[Verdict]:
    """One verdict a rule on what is not run again, and why."""
    for rule in sorted({record["rule"] for record in context.records} - set(rules)):
        count = sum(record["rule"] == rule for record in context.records)
        reason = REASONS.get(rule, "its programs run on every case: --regrade all runs it again")
        reason = "its sources are not in the release" if rule == "blueprints" else reason
        yield Verdict(f"jobs of rule {rule}", "not re-run", reason, count)
