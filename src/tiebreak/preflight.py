"""What the Snakefile asks before the first job: its options, the targets' names, the machine, and finished trainings.

The study file is checked when it is loaded, also in a dry run; the machine never in a dry run.
"""

import difflib
import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tiebreak.archive import finished
from tiebreak.devices import devices
from tiebreak.errors import ConfigError, SandboxError
from tiebreak.paths import Paths, job_name
from tiebreak.study import Study

if TYPE_CHECKING:
    from tiebreak.cli.doctor import Finding

OPTIONS = ("study", "retrain")
TRAININGS = ("sft", "rlvr")
TARGET = re.compile(
    r"results/(?P<study>[a-z0-9_-]+)/(?:(?:base|data|sft|stats|report|publish|gates/(?!ties/))"
    r"|(?:arms|gates/ties)/(?P<arm>\w+)(?:/seed(?P<seed>\d+))?"
    r"|(?:probes|evals)/(?:sft\b|(?P<run_arm>\w+)-seed(?P<run_seed>\d+))(?:/rep(?P<rep>\d+))?)"
)
TOOL_RULES = ("base", "cases", "traces", "bands", "probe", "trial", "rlvr", "evaluation", "budgets", "shard")
"""Rules that run generated or model-written code."""
OF_STUDIES = ("study", "data", "model", "adapter", "disk", "prime-rl")
"""What the doctor looks at for a study, not for the machine."""


def check_config(config: Mapping[str, Any]) -> None:
    """Refuse an option that config.yaml does not have. Raises ConfigError."""
    for key, value in config.items():
        if key not in OPTIONS:
            near = difflib.get_close_matches(str(key), OPTIONS, n=1)
            mend = f"did you mean {near[0]}?" if near else "what a study is stands in its own file, not in --config"
            raise ConfigError(f"config: {key} is an unknown option; known are {', '.join(OPTIONS)}; {mend}")
        if key == "retrain" and not isinstance(value, bool):
            raise ConfigError(f"config: retrain is {value!r}; true or false is expected")
        if key == "study" and not isinstance(value, str):
            raise ConfigError(f"config: study is {value!r}; a name in config/studies or a path is expected")


def check_targets(targets: Iterable[str], study: Study) -> None:
    """Refuse a target of another study, or of an arm, training seed or repetition that it lacks. Raises ConfigError."""
    for target in targets:
        match = TARGET.match(str(target))
        if match is None:
            continue
        if match["study"] != study.name:
            raise ConfigError(f"{target}: the study is {study.name}; for this one: --config study={match['study']}")
        check_arm(target, match["arm"] or match["run_arm"], study)
        check_count(
            target, "training seed", match["seed"] or match["run_seed"], study.training_seeds, "rlvr.training_seeds"
        )
        check_count(target, "repetition", match["rep"], study.repetitions, "evaluation.repetitions")


def check_arm(target: str, arm: str | None, study: Study) -> None:
    """Refuse an arm that the study does not have."""
    if arm is None or arm in study.arms:
        return
    near = difflib.get_close_matches(arm, list(study.arms), n=1)
    mend = f"did you mean {near[0]}?" if near else "add it to arms in the study file"
    raise ConfigError(f"{target}: study {study.name} has no arm {arm} (arms: {', '.join(study.arms)}); {mend}")


def check_publishing(targets: Iterable[str], study: Study) -> None:
    """Refuse to publish a study that names no place, owner or licence for its release. Raises HubError."""
    if any(target == "publish" or str(target).endswith("/publish/receipt.json") for target in targets):
        from tiebreak.publish.publishing import check_named

        check_named(study)


def check_hub(dag: Any, study: Study) -> None:
    """Refuse to begin, before hours of jobs, where the hub would refuse the end. Raises HubError."""
    if any(job.rule.name == "publish" for job in dag.needrun_jobs()):
        from tiebreak.publish.access import check_rights, client
        from tiebreak.publish.publishing import repositories

        check_rights(client(), repositories(study))


def check_count(target: str, what: str, number: str | None, there: list[int], key: str) -> None:
    """Refuse a number that is not among those `there` are."""
    if number is not None and int(number) not in there:
        raise ConfigError(
            f"{target}: there is no {what} {number}, the last is {there[-1]}; raise {key} in the study file"
        )


def check_named(study: Study) -> None:
    """Refuse a study that still asks for something that nobody but its user can name. Raises ConfigError."""
    for question in study.questions():
        raise ConfigError(f"study {study.name}: {question}")


def check_machine(dag: Any, name: str, study: Study, *, here: bool) -> None:
    """Refuse what lacks something that the jobs to come need. Raises SandboxError with all of it, a line each.

    name: the study as its user named it. here: the jobs run on this machine, one training at a time; else on a cluster,
    and only what all machines share is looked at (the model at the hub, stored adapters, the disk), for all trainings.
    """
    from tiebreak.cli.doctor import examine
    from tiebreak.cli.doctor_study import look_at_study

    if not any(job.rule.name in TOOL_RULES or job.resources.get("gpu", 0) for job in dag.needrun_jobs()):
        return
    findings = examine(name) if here else look_at_study(study, at_once=len(study.trained_runs))
    missing = [found for found in findings if found.state == "missing"]
    if missing:
        raise SandboxError("\ntiebreak: ".join(said(found, study) for found in missing))


def said(missing: "Finding", study: Study) -> str:
    """A finding as an error, with the mend."""
    whose = f"study {study.name}" if missing.subject in OF_STUDIES else f"this machine has no usable {missing.subject}"
    return f"{whose}: {missing.found}" + (f"; {missing.mend}" if missing.mend else "")


def retrainings(dag: Any, paths: Paths) -> dict[str, str]:
    """The jobs to come that would make a finished training again, each with Snakemake's reason."""
    jobs = [job for job in dag.needrun_jobs(exclude_finished=False) if job.rule.name in TRAININGS]
    names = {job_name(job.rule.name, dict(job.wildcards.items())): job for job in jobs}
    return {name: str(dag.reason(job)) for name, job in sorted(names.items()) if finished(paths.work / name)}


def announcement(again: Mapping[str, str], study: Study) -> str:
    """What will be trained again, on how much, and why."""
    gpus = max((study.gpus("rlvr"), study.gpus("sft")))
    where = f"{gpus} GPUs" if gpus else "the CPU"
    reasons = "\n".join(f"  {name}: {reason}" for name, reason in again.items())
    return f"tiebreak: will retrain {len(again)} runs on {where}, setting the finished ones aside, because\n{reasons}"


def check_retraining(dag: Any, study: Study, paths: Paths, *, allowed: bool) -> None:
    """Say what will be trained again. Raises ConfigError where that takes GPUs and the user did not ask for it."""
    again = retrainings(dag, paths)
    if not again:
        return
    print(announcement(again, study), file=sys.stderr)
    if study.model.device == "cuda" and not allowed:
        raise ConfigError(
            f"{len(again)} finished trainings would be run again on GPUs; allow it: --config retrain=true"
        )


def announce_retraining(workflow: Any, study: Study, paths: Paths) -> None:
    """At the end of a dry run, say what a real one would train again."""
    if workflow.dryrun and getattr(workflow, "_dag", None) is not None and (again := retrainings(workflow.dag, paths)):
        print(announcement(again, study), file=sys.stderr)


def announce_page(workflow: Any, paths: Paths) -> None:
    """At the end of a run that led to the report, say where it is."""
    if any(job.rule.name == "report" for job in workflow.dag.jobs):
        print(f"tiebreak: the report is {paths.report}", file=sys.stderr)


def announce_devices(workflow: Any) -> None:
    """At the end of a dry run, say which jobs would take GPUs, and how they share those of this machine."""
    if not workflow.dryrun or getattr(workflow, "_dag", None) is None:
        return
    jobs = [
        (job.rule.name, int(job.resources.get("gpu", 0))) for job in workflow.dag.needrun_jobs(exclude_finished=False)
    ]
    if lines := allotment(Counter(job for job in jobs if job[1]), devices()):
        print("\n".join(["tiebreak: GPUs", *lines]), file=sys.stderr)


def limit_gpus(workflow: Any, largest: int) -> None:
    """Let no more jobs start on this machine than its GPUs can hold; a job that got none would wait while it runs.

    What the user says (--resources gpu=N) stands, and a cluster knows its own. largest: what the study's largest job
    takes; Snakemake cuts a job's request to the limit, so a smaller one would hide that it cannot run here.
    """
    if largest and workflow.local_exec and "gpu" not in workflow.global_resources:
        workflow.register_resource("gpu", max(largest, len(devices())))


def allotment(jobs: Mapping[tuple[str, int], int], known: Sequence[str]) -> list[str]:
    """A line for each rule and number of GPUs: how many jobs, and how many of them the `known` devices hold at once."""
    lines = []
    for (rule, gpus), count in jobs.items():
        at_once = min(count, len(known) // gpus)
        where = (
            f"{at_once} at a time on {', '.join(known)}" if at_once else f"not on this machine, which has {len(known)}"
        )
        lines.append(f"  {rule}: {plural(count, 'job')} with {plural(gpus, 'GPU')} each, {where}")
    return lines


def plural(count: int, noun: str) -> str:
    """`1 job`, `2 jobs`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"
