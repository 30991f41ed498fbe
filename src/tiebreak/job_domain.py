"""The domain of a job, or of plain values. Here and in `study.py` it is known which domains there are."""

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from tiebreak.domains.base import Domain, Drawn
from tiebreak.job import Job
from tiebreak.paths import verdict_cache
from tiebreak.sandbox.probe import enforcement

Values = Mapping[str, Any]
"""A section of a study as plain values."""


WAITING = 8
"""Conversations for each CPU whose code may run at a time where `llm()` asks the policy: most of them wait for it. If
all computed in place of that, each would still come to its limit of CPU time (5 s) before that of wall time (60 s)."""


def open_domain(job: Job, *, workers: int | None = None, **changes: Any) -> Domain:
    """The job's domain with its toolbox, but for these changes, and reward tables (its own arm's, or of `shapes`).

    workers: how many programs run at a time, as many as the job has threads where nothing is said. If the job then runs
    programs in it, its record says how many, with which tools, and by what they were confined.
    """
    toolbox = {**job.params.get("toolbox", {}), **changes}
    domain = opened(job.params.domain, toolbox, _shapes(job), workers=workers or job.threads)
    job.programs = partial(programs, domain)
    return domain


def free_workers(job: Job) -> int:
    """How many programs run at a time beside an engine whose conversations do not wait for each other.

    That changes no byte there, so it goes by the CPUs that the job was given.
    """
    asks = job.params.get("toolbox", {}).get("responder") == "policy"
    return job.cpus * (WAITING if asks else 1)


def programs(domain: Domain) -> dict[str, Any]:
    """For a job's record: the verdicts that it asked for, and how the programs were confined that it ran for them."""
    counts = domain.counters()
    ran = counts["asked"] - counts["hits"]
    if not counts["asked"]:
        return {}
    held = {"confinement": enforcement(), "tools": TOOLS[domain.name]()} if ran else {}
    return {"verdicts": {"asked": counts["asked"], "from_cache": counts["hits"], "ran": ran}} | held


def _rust_tools() -> dict[str, str]:
    from tiebreak.domains.rust.toolchain import toolchain

    return {"rustc": toolchain().version.splitlines()[0], "target": toolchain().target}


def _no_tools() -> dict[str, str]:
    return {}


def opened(
    name: str, toolbox: Values, arms: Mapping[str, Values], *, workers: int, cache: Path | None = None
) -> Domain:
    """The domain `name` from plain values; cache: of verdicts, None being the one that all studies share."""
    return OPENERS[name](toolbox, arms, workers, verdict_cache() if cache is None else cache)


def draw(job: Job) -> Drawn:
    """The blueprints of the job's sources."""
    return drawn(job.params.domain, job.params.source, job.params.root_seed, job.input.get("replies"))


def drawn(name: str, source: Values, root_seed: int, replies: str | Path | None = None) -> Drawn:
    """The blueprints of a domain's sources from plain values; replies: what a language model said, if one is asked."""
    return SOURCES[name](source, root_seed, replies)


def _shapes(job: Job) -> Mapping[str, Values]:
    if job.params.get("arm") is not None:
        return {job.wildcards.arm: job.params["arm"]}
    shapes: Mapping[str, Values] = job.params.get("shapes", {})
    return shapes


def _open_rust(toolbox: Values, arms: Mapping[str, Values], workers: int, cache: Path) -> Domain:
    from tiebreak.domains.rust.domain import RustDomain
    from tiebreak.domains.rust.verdicts import Judge
    from tiebreak.sections.arm import Arm
    from tiebreak.sections.model import Toolbox

    tools = Toolbox.model_validate(toolbox)
    tables = {name: Arm.model_validate(values).reward_table() for name, values in arms.items()}
    judge = Judge(cache, workers=workers, diagnostics=tools.diagnostics)
    return RustDomain(judge, tables, read_limit=tools.read_limit, output_limit=tools.output_limit)


def _open_fathom(toolbox: Values, arms: Mapping[str, Values], workers: int, cache: Path) -> Domain:
    from tiebreak.domains.fathom.calls import stub
    from tiebreak.domains.fathom.domain import FathomDomain
    from tiebreak.domains.fathom.episode import Settings
    from tiebreak.sections.fathom import FathomArm, ReplSection

    repl = ReplSection.model_validate(toolbox)
    tables = {name: FathomArm.model_validate(values).reward_table() for name, values in arms.items()}
    asked = {"stub": stub, "policy": None}[repl.responder]
    settings = Settings(repl.mode, repl.output_limit, repl.most_calls, repl.most_depth, asked)
    return FathomDomain(tables, settings, repl.excerpt_tokens, workers=workers)


def _draw_rust(source: Values, root_seed: int, replies: str | Path | None) -> Drawn:
    from tiebreak.domains.rust.llm.orders import orders
    from tiebreak.domains.rust.sources import Generated, Imported, Source, Written, collect
    from tiebreak.sections import data

    wanted = data.Source.model_validate(source)
    sources: list[Source] = [
        *([Generated(**wanted.generate.model_dump())] if wanted.generate else []),
        *([Imported(**wanted.imported.model_dump())] if wanted.imported else []),
    ]
    if (llm := wanted.llm) is not None:
        ordered = orders(llm.families, llm.categories, llm.difficulties, llm.cases, root_seed)
        sources.append(Written(Path(str(replies)), llm.model, ordered))
    return collect(sources, root_seed)


def _draw_fathom(source: Values, root_seed: int, replies: str | Path | None) -> Drawn:
    from tiebreak.domains.fathom.generator import generate
    from tiebreak.sections.fathom import TaskSource

    wanted = TaskSource.model_validate(source).generate
    tasks = generate(root_seed, wanted.cases, wanted.by_length)
    return Drawn(list(tasks), [], f"{len(tasks)} tasks from the generator, seed {root_seed}")


OPENERS: Mapping[str, Callable[[Values, Mapping[str, Values], int, Path], Domain]] = {
    "rust": _open_rust,
    "fathom": _open_fathom,
}
TOOLS: Mapping[str, Callable[[], dict[str, str]]] = {"rust": _rust_tools, "fathom": _no_tools}
SOURCES: Mapping[str, Callable[[Values, int, str | Path | None], Drawn]] = {"rust": _draw_rust, "fathom": _draw_fathom}


def split_cases(cases: list[Any], splits: str | Path, name: str) -> list[Any]:
    """The cases of one split, in the split's order."""
    by_id = {case.case_id: case for case in cases}
    return [by_id[case] for case in json.loads(Path(splits).read_text(encoding="utf-8"))[name]]


def stop_reason(model: str | Path) -> str | None:
    """Why a gate stopped the run of this model folder; None for a model."""
    path = Path(model) / "stopped.json"
    return str(json.loads(path.read_text(encoding="utf-8"))["reason"]) if path.exists() else None
