"""The Rust domain as the workflow sees it (`domains.base.Domain`): its parts, glued."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Any, cast

import pyarrow as pa

from tiebreak.chat import Message, render
from tiebreak.domains.base import Corpus, Episode, Outcome, Reject, TraceTurn
from tiebreak.domains.rust import episode as episodes
from tiebreak.domains.rust import rescore
from tiebreak.domains.rust.blueprints import Blueprint, dump_blueprints, load_blueprints
from tiebreak.domains.rust.corpus import PROTOCOL_STRINGS, crates, stages
from tiebreak.domains.rust.episode import RustEpisode
from tiebreak.domains.rust.grading import Grade, grade
from tiebreak.domains.rust.materialize import materialize
from tiebreak.domains.rust.protocol import OUTPUT_LIMIT, READ_LIMIT
from tiebreak.domains.rust.reading import RustReader
from tiebreak.domains.rust.rewards import RewardTable
from tiebreak.domains.rust.shared_code import answer, forms
from tiebreak.domains.rust.stored import stored_terms
from tiebreak.domains.rust.traces import MOST_CALLS, traces
from tiebreak.domains.rust.verdicts import Judge
from tiebreak.seeds import stream

CORPUS_DETOURS = 0.3
PATCH = ("patch_test_pass", "patch_run_pass", "patch_test_recover", "patch_run_recover")
NO_CALL = "no cargo call succeeded, which is what this case asks for"

CALL = pa.struct({"tool": pa.string(), "id": pa.string(), "params": pa.string(), "ok": pa.bool_()})
FACTS = pa.struct(
    {
        "compiled": pa.bool_(),
        "phase": pa.int32(),
        "tests_passed": pa.int32(),
        "tests_total": pa.int32(),
        "tampered": pa.list_(pa.string()),
        "calls": pa.list_(CALL),
    }
)


@dataclass
class RustDomain:
    """tables: the reward table of each shape; limits are characters (`protocol`)."""

    judge: Judge
    tables: Mapping[str, RewardTable] = field(default_factory=dict)
    read_limit: int = READ_LIMIT
    output_limit: int = OUTPUT_LIMIT
    name = "rust"
    facts = FACTS
    strata = MappingProxyType({"patch": PATCH})
    size = None
    counted = ()

    @property
    def shapes(self) -> Sequence[str]:
        """The shapes that rollouts are scored under."""
        return list(self.tables)

    def load_cases(self, path: Path) -> list[Blueprint]:
        """The cases of a `cases.jsonl`, in file order."""
        return load_blueprints(path)

    def dump_cases(self, path: Path, cases: Sequence[Blueprint]) -> None:
        """Write blueprints or cases as JSONL."""
        dump_blueprints(path, cases)

    def materialize(
        self, blueprints: Sequence[Blueprint], progress: Callable[[int], object]
    ) -> tuple[list[Blueprint], list[Reject]]:
        """The blueprints that real cargo agrees with, and why the others were rejected."""
        return materialize(blueprints, self.judge, progress)

    def forms(self, case: Blueprint) -> dict[str, str]:
        """The code as given and as repaired."""
        return forms(case)

    def question(self, case: Blueprint) -> str:
        """What the user asks, before the crate's place is filled in."""
        return case.user

    def answer_text(self, case: Blueprint) -> str:
        """What the reference writes."""
        return answer(case)

    def prompt(self, case: Blueprint, system_message: str | None = None, *, drifted: bool = False) -> list[Message]:
        """The opening messages of a case; a drift is here another system message (`rlvr.system_message`) alone."""
        return episodes.prompt(case, system_message)

    def episode(self, case: Blueprint, messages: Sequence[Message], *, tool_rounds: int) -> RustEpisode:
        """A fresh episode of `case` after the opening `messages`."""
        limits = {"read_limit": self.read_limit, "output_limit": self.output_limit}
        return RustEpisode(case, messages, tool_rounds=tool_rounds, **limits)

    def answer(self, live: Sequence[Episode]) -> None:
        """Reply to the open calls of all these episodes, with one call of the judge."""
        episodes.answer(self.judge, cast(Sequence[RustEpisode], live))

    def outcomes(self, finished: Sequence[Episode]) -> list[Outcome]:
        """What each finished episode came to, under every shape."""
        return [episodes.outcome(item, self.tables) for item in cast(Sequence[RustEpisode], finished)]

    def grades(self, finished: Sequence[Episode]) -> list[bool]:
        """The independent verdict on each episode's final files."""
        return [found.graded for found in self.reasoned_grades(finished)]

    def reasoned_grades(self, finished: Sequence[Episode]) -> list[Grade]:
        """The grades with their reasons.

        Where there is nothing to repair (test_only, run_only) untouched files prove nothing: there the task is the call
        itself, so one must have succeeded as well.
        """
        items = cast(Sequence[RustEpisode], finished)
        found = grade(self.judge, [(item.case, item.files) for item in items])
        return [
            one if repairs(item.case) or item.succeeded else Grade(False, (*one.reasons, NO_CALL))
            for one, item in zip(found, items, strict=True)
        ]

    def terms(self, episode: Episode, shape: str) -> Mapping[str, float]:
        """The reward of a finished episode under `shape`, term by term."""
        return episodes.episode_terms(cast(RustEpisode, episode), self.tables[shape])

    def declared_terms(self, shape: str) -> list[str]:
        """The shaping terms that a shape pays for."""
        return rescore.shaping_terms(self.tables[shape])

    def synthetic_group(self, shape: str) -> list[dict[str, float]]:
        """Made-up rollouts that fail in every way that a shaping term can tell apart."""
        return rescore.synthetic_group(self.tables[shape])

    def rescored_groups(self, rollouts: Path, shape: str) -> list[list[dict[str, float]]]:
        """The terms of stored rollouts under a shape, by case."""
        return rescore.rescored_groups(rollouts, self.tables[shape])

    def stored_terms(
        self, turns: Sequence[Message], stop: str, facts: Mapping[str, Any] | None
    ) -> dict[str, dict[str, float]]:
        """The reward of a stored rollout under every shape, term by term."""
        return stored_terms(turns, stop, facts, self.tables)

    def reader(self, cases: Sequence[Blueprint]) -> RustReader:
        """What reads stored rollouts of these cases for audits."""
        return RustReader(cases, self.tables)

    def counters(self) -> dict[str, int]:
        """Verdicts asked for, found in the cache, and run, so far."""
        return {"asked": self.judge.asked, "hits": self.judge.hits, "ran": self.judge.ran}

    def corpus(self, root_seed: int, size: int) -> Corpus:
        """`size` crates for a base model; of a fifth of them real traces, to show tool output."""
        cases = crates(root_seed, size)
        played, _ = materialize(cases[: -(-size // 5)], self.judge)
        shown = self.traces(played, lambda case: stream(root_seed, "base", case.case_id), CORPUS_DETOURS)
        texts = [case.files[case.source_path] + case.user + case.final for case in cases]
        exercises = stages(cases, stream(root_seed, "base", "exercises"))
        return Corpus(texts + [render_trace(turns) for turns in shown], PROTOCOL_STRINGS, exercises)

    def traces(
        self,
        cases: Sequence[Blueprint],
        rng_of_case: Callable[[Blueprint], Random],
        detours: float,
        *,
        system_message: str | None = None,
        most_calls: int = MOST_CALLS,
    ) -> list[list[TraceTurn]]:
        """One demonstration a case (`domains.rust.traces`), under this domain's limits."""
        limits = {"read_limit": self.read_limit, "output_limit": self.output_limit, "most_calls": most_calls}
        return traces(cases, self.judge, rng_of_case, detours, system_message=system_message, **limits)

    def trace(self, case: Blueprint, rng: Random) -> list[TraceTurn]:
        """A demonstration of one case, without detours."""
        return self.traces([case], lambda _: rng, 0.0)[0]


def repairs(case: Blueprint) -> bool:
    """Whether a case's task is to change a file."""
    return any(step.tool == "apply_patch" for step in case.steps)


def render_trace(turns: Sequence[TraceTurn]) -> str:
    """The conversation of a trace as a model reads it."""
    return render([Message(role=turn["role"], content=turn["content"]) for turn in turns])
