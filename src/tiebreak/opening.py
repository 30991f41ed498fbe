"""An environment from plain arguments, as RL libraries hand them over."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from tiebreak.chat import Message
from tiebreak.domains.rust.blueprints import Blueprint, load_blueprints
from tiebreak.domains.rust.domain import RustDomain
from tiebreak.domains.rust.generator import generate
from tiebreak.domains.rust.rewards import PUBLISHED_TABLES, RewardTable
from tiebreak.domains.rust.verdicts import Judge, Limits
from tiebreak.environment import Environment
from tiebreak.errors import ConfigError
from tiebreak.paths import verdict_cache
from tiebreak.sampling import prompts_of
from tiebreak.sections.model import Toolbox

CASES = 64
"""How many cases are generated where none are given."""
MOST_WORKERS = 8

Section = TypeVar("Section", bound=BaseModel)


def environment(
    *,
    timeout: int | None = None,
    max_tool_rounds: int = 15,
    seed: int = 0,
    arm: str = "sparse",
    reward: Mapping[str, Any] | None = None,
    cases: str | None = None,
    prompts: str | None = None,
    toolbox: Mapping[str, Any] | None = None,
) -> Environment:
    """The Rust domain's environment.

    timeout: seconds of wall time behind the limit of CPU time, which is every stage's. seed: root of the requests'
    seeds and of generated cases. arm, reward: the shape's name and its table; the published arms need none. cases: a
    `cases.jsonl`; without it some are generated. prompts: a table of prompts, by default the domain's own for every
    case. toolbox: the section `toolbox` of a study. Raises ConfigError, BlueprintError, DataError or SandboxError.
    """
    tools = checked(Toolbox, toolbox or {}, "toolbox")
    limits = Limits() if timeout is None else Limits(wall_seconds=timeout)
    judge = Judge(cache(cases), workers=workers(), limits=limits, diagnostics=tools.diagnostics)
    limit = {"read_limit": tools.read_limit, "output_limit": tools.output_limit}
    domain = RustDomain(judge, {arm: table(arm, reward)}, **limit)
    found = load_blueprints(existing(cases, "cases")) if cases else generated(domain, seed)
    shown = prompts_of(existing(prompts, "prompts"), found) if prompts else own_prompts(domain, found)
    return Environment(domain, shown, arm=arm, root_seed=seed, tool_rounds=max_tool_rounds)


def table(arm: str, reward: Mapping[str, Any] | None) -> RewardTable:
    """The arm's reward table. Raises ConfigError for a wrong one, and for no table of an arm that is not published."""
    if reward is not None:
        return checked(RewardTable, reward, "reward")
    if arm not in PUBLISHED_TABLES:
        raise ConfigError(f"arm {arm} has no reward table; give reward, or one of {', '.join(PUBLISHED_TABLES)}")
    return PUBLISHED_TABLES[arm]


def checked(kind: type[Section], values: Mapping[str, Any], name: str) -> Section:
    """The typed values of an argument. Raises ConfigError that names the wrong key."""
    try:
        return kind.model_validate(values)
    except ValidationError as problem:
        first = problem.errors()[0]
        place = ".".join([name, *map(str, first["loc"])])
        raise ConfigError(f"argument {place} is {first['input']!r}: {first['msg']}") from None


def existing(path: str, name: str) -> Path:
    """The path of a file that an argument names. Raises ConfigError where there is none."""
    if not Path(path).is_file():
        raise ConfigError(f"argument {name} is {path!r}: there is no such file in {Path.cwd()}")
    return Path(path)


def generated(domain: RustDomain, seed: int) -> list[Blueprint]:
    """Cases of all templates, each played through once: what its plan says is true of it."""
    found, _ = domain.materialize(generate("all", CASES, seed), lambda done: None)
    return found


def own_prompts(domain: RustDomain, cases: Sequence[Blueprint]) -> list[tuple[Blueprint, list[Message]]]:
    """Every case with the domain's opening messages."""
    return [(case, domain.prompt(case)) for case in cases]


def cache(cases: str | None) -> Path:
    """Where verdicts are kept: a study's cases share the studies' cache, others have one in the user's cache folder."""
    folder = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return verdict_cache() if cases else Path(folder) / "tiebreak" / "verdicts"


def workers() -> int:
    """Threads that compile and run: as many as this process may use cores, within reason."""
    return min(len(os.sched_getaffinity(0)), MOST_WORKERS)
