"""The fathom domain as the workflow sees it (`domains.base.Domain`): its parts, glued."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Any, cast

import pyarrow as pa

from tiebreak.chat import Message, render
from tiebreak.domains.base import Corpus, Episode, Outcome, Reject, TraceTurn
from tiebreak.domains.fathom import rescore, traces
from tiebreak.domains.fathom.answers import is_correct
from tiebreak.domains.fathom.corpus import PROTOCOL_STRINGS, spelled, stages
from tiebreak.domains.fathom.episode import FathomEpisode, Settings
from tiebreak.domains.fathom.generator import generate
from tiebreak.domains.fathom.prompts import EXCERPT_TOKENS, estimated_tokens, opening
from tiebreak.domains.fathom.reading import FathomReader
from tiebreak.domains.fathom.rewards import RewardTable, components, reward, terms
from tiebreak.domains.fathom.tasks import Task, dump_tasks, load_tasks, problems
from tiebreak.errors import RequestError
from tiebreak.seeds import derive, stream

CORPUS_LENGTH = 1_200
CORPUS_DETOURS = 0.3

BLOCK = pa.struct({"ok": pa.bool_(), "cut": pa.bool_(), "ended": pa.string()})
COUNTS = ("calls", "refused", "deepest", "tokens")
ASKED = pa.struct({"reply": pa.string(), **{name: pa.int32() for name in COUNTS}})
FACTS = pa.struct(
    {
        "answer": pa.string(),
        "gold_answer": pa.string(),
        "calls": pa.int32(),
        "refused": pa.int32(),
        "most_calls": pa.int32(),
        "depth": pa.int32(),
        "context": pa.int32(),
        "prompt_tokens": pa.int32(),
        "completion_tokens": pa.int32(),
        "inner_tokens": pa.int32(),
        "asked": pa.list_(ASKED),
        "blocks": pa.list_(BLOCK),
    }
)


class TaskEpisode(FathomEpisode):
    """An episode that knows its task; the REPL knows the document alone."""

    def __init__(self, task: Task, messages: Sequence[Message], *, tool_rounds: int, settings: Settings) -> None:
        super().__init__(task.document, messages, tool_rounds=tool_rounds, settings=settings)
        self.case = task

    @property
    def correct(self) -> bool:
        """Whether it ended with the gold answer."""
        return is_correct(self.answer, self.case.answer)


def run(episode: TaskEpisode) -> None:
    """Run an episode's code; where the policy that it asks cannot be had, it has ended in an error, and only it."""
    with suppress(RequestError):
        episode.run()


@dataclass
class FathomDomain:
    """tables: the reward table of each shape; excerpt_tokens: of the document in a prompt, as `count` counts them.

    workers: blocks that run at the same time.
    """

    tables: Mapping[str, RewardTable] = field(default_factory=dict)
    settings: Settings = field(default_factory=Settings)
    excerpt_tokens: int = EXCERPT_TOKENS
    count: Callable[[str], int] = estimated_tokens
    workers: int = 2
    asked: int = 0
    name = "fathom"
    facts = FACTS
    strata = MappingProxyType({"needles": ("niah", "multi_needle")})
    size = "context"
    counted = ("calls", "refused", "prompt_tokens", "completion_tokens", "inner_tokens")

    @property
    def shapes(self) -> Sequence[str]:
        """The shapes that rollouts are scored under."""
        return list(self.tables)

    def load_cases(self, path: Path) -> list[Task]:
        """The cases of a `cases.jsonl`, in file order."""
        return load_tasks(path)

    def dump_cases(self, path: Path, cases: Sequence[Task]) -> None:
        """Write tasks as JSONL."""
        dump_tasks(path, cases)

    def materialize(
        self, blueprints: Sequence[Task], progress: Callable[[int], object]
    ) -> tuple[list[Task], list[Reject]]:
        """The tasks whose program, run in the REPL, gives the gold answer; and what is wrong with the others."""
        found = []
        self.asked += len(blueprints)
        for errors in self._pool.map(self._examine, blueprints):
            found.append(errors)
            progress(1)
        cases = [task for task, errors in zip(blueprints, found, strict=True) if not errors]
        pairs = zip(blueprints, found, strict=True)
        return cases, [Reject(case_id=task.case_id, step=0, errors=errors) for task, errors in pairs if errors]

    def forms(self, case: Task) -> dict[str, str]:
        """The document."""
        return {"document": case.document}

    def question(self, case: Task) -> str:
        """The question."""
        return case.question

    def answer_text(self, case: Task) -> str:
        """The gold answer."""
        return case.answer

    def prompt(self, case: Task, system_message: str | None = None, *, drifted: bool = False) -> list[Message]:
        """The opening messages of a case; drifted: in the layout of the original study's failure."""
        options = {"excerpt_tokens": self.excerpt_tokens, "count": self.count, "drifted": drifted}
        return opening(case.question, case.document, system_message, **options)  # type: ignore[arg-type]

    def episode(self, case: Task, messages: Sequence[Message], *, tool_rounds: int) -> TaskEpisode:
        """A fresh episode of `case` after the opening `messages`; one within it has the same system message."""
        system = next((turn["content"] for turn in messages if turn["role"] == "system"), None)
        inner = partial(opening, system_message=system, excerpt_tokens=self.excerpt_tokens, count=self.count)
        return TaskEpisode(case, messages, tool_rounds=tool_rounds, settings=replace(self.settings, opening=inner))

    def answer(self, live: Sequence[Episode]) -> None:
        """Run the open code of all these episodes, a few at a time."""
        waiting = [item for item in cast(Sequence[TaskEpisode], live) if item.waiting]
        self.asked += len(waiting)
        list(self._pool.map(run, waiting))

    def outcomes(self, finished: Sequence[Episode]) -> list[Outcome]:
        """What each finished episode came to, under every shape."""
        return [self._outcome(item) for item in cast(Sequence[TaskEpisode], finished)]

    def grades(self, finished: Sequence[Episode]) -> list[bool]:
        """Whether each episode ended with the gold answer, which nothing in the episode could see."""
        return [item.correct for item in cast(Sequence[TaskEpisode], finished)]

    def terms(self, episode: Episode, shape: str) -> Mapping[str, float]:
        """The reward of a finished episode under `shape`, term by term."""
        item, table = cast(TaskEpisode, episode), self.tables[shape]
        prompt, new = item.tokens
        counts = {"calls": item.calls, "prompt_tokens": prompt, "completion_tokens": new}
        return terms(components(item.answer, item.case.answer, table, **counts), table)

    def declared_terms(self, shape: str) -> list[str]:
        """The components that a shape gives a weight."""
        return rescore.declared_terms(self.tables[shape])

    def synthetic_group(self, shape: str) -> list[dict[str, float]]:
        """The group of eight that differ in all that a table may pay for."""
        return rescore.synthetic_group(self.tables[shape])

    def rescored_groups(self, rollouts: Path, shape: str) -> list[list[dict[str, float]]]:
        """The terms of stored rollouts under a shape, by case."""
        return rescore.rescored_groups(rollouts, self.tables[shape])

    def stored_terms(
        self, turns: Sequence[Message], stop: str, facts: Mapping[str, Any] | None
    ) -> dict[str, dict[str, float]]:
        """The reward of a stored rollout under every shape, term by term, from its facts."""
        return {} if stop == "error" or facts is None else rescore.stored_terms(facts, self.tables)

    def reader(self, cases: Sequence[Task]) -> FathomReader:
        """What reads stored rollouts of these cases for audits."""
        return FathomReader(cases, self.tables)

    def counters(self) -> dict[str, int]:
        """Turns, tasks and traces whose code was run; nothing is remembered from one to another."""
        return {"asked": self.asked, "hits": 0}

    def corpus(self, root_seed: int, size: int) -> Corpus:
        """`size` short documents from a seed stream of their own; of a fifth of them real traces."""
        tasks = generate(derive(root_seed, "base", "corpus"), size, {CORPUS_LENGTH: 1.0})
        some = tasks[: -(-size // 5)]
        shown = self.traces(some, lambda task: stream(root_seed, "base", task.case_id), CORPUS_DETOURS)
        texts = [f"{task.document}\n\n{task.question}\n{traces.program(task)}" for task in tasks]
        exercises = stages(stream(root_seed, "base", "exercises"))
        return Corpus([*texts, *map(render_trace, shown), *spelled()], PROTOCOL_STRINGS, exercises)

    def traces(
        self,
        cases: Sequence[Task],
        rng_of_case: Callable[[Task], Random],
        detours: float,
        *,
        system_message: str | None = None,
        most_calls: int = 2,
    ) -> list[list[TraceTurn]]:
        """One demonstration a case (`domains.fathom.traces`), with this domain's prompts."""

        self.asked += len(cases)

        def one(case: Task) -> list[TraceTurn]:
            options = {"settings": self.settings, "detours": detours, "most_rounds": most_calls}
            return traces.trace(case, self.prompt(case, system_message), rng_of_case(case), **options)  # type: ignore[arg-type]

        return list(self._pool.map(one, cases))

    def trace(self, case: Task, rng: Random) -> list[TraceTurn]:
        """A demonstration of one case, without detours."""
        return self.traces([case], lambda _: rng, 0.0)[0]

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        """Threads that live as long as the domain: a sandbox ends with the thread that started it."""
        return ThreadPoolExecutor(self.workers)

    def _examine(self, task: Task) -> list[str]:
        """What is wrong with a task, in words."""
        live = TaskEpisode(task, [], tool_rounds=1, settings=replace(self.settings, mode="multi"))
        live.act(traces.fenced(traces.program(task)))
        live.run()
        said = live.messages[-1]["content"]
        live.halt("final")
        return problems(task) + ([] if said == task.answer else [f"its program prints {said[:200]!r}"])

    def _outcome(self, item: TaskEpisode) -> Outcome:
        if item.stop is None:
            raise ValueError(f"{item.case.case_id}: outcome() of an episode that goes on")
        prompt, new = item.tokens
        facts = {
            "answer": item.answer,
            "gold_answer": item.case.answer,
            "calls": item.calls,
            "refused": item.budget.refused,
            "most_calls": item.budget.most_calls,
            "depth": item.budget.deepest,
            "context": len(item.case.document),
            "prompt_tokens": prompt,
            "completion_tokens": new,
            "inner_tokens": item.budget.tokens,
            "asked": [asdict(one) for one in item.budget.asked],
            "blocks": [asdict(block) for block in item.ran],
        }
        paid = {} if item.stop == "error" else {shape: reward(self.terms(item, shape)) for shape in self.tables}
        return Outcome(stop=item.stop, valid=item.answer is not None, success=item.correct, facts=facts, rewards=paid)


def render_trace(turns: Sequence[TraceTurn]) -> str:
    """The conversation of a trace as a model reads it."""
    return render([Message(role=turn["role"], content=turn["content"]) for turn in turns])
