"""An episode of the Rust domain: it takes assistant turns, runs the file tools itself and asks a judge for verdicts.

Only messages, the files' texts and the queue of open calls are kept, so that many episodes share one judge call.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tiebreak.chat import SYSTEM_MESSAGE, Message
from tiebreak.domains.base import Outcome, Policy, Stop
from tiebreak.domains.rust.asks import Ask, Verdict
from tiebreak.domains.rust.blueprints import PROJECT_ROOT as PLACEHOLDER
from tiebreak.domains.rust.blueprints import Blueprint
from tiebreak.domains.rust.facts import Facts, witnessed
from tiebreak.domains.rust.protocol import (
    CARGO_TOOLS,
    OUTPUT_LIMIT,
    READ_LIMIT,
    Call,
    ParsedTurn,
    format_result,
    parse_turn,
)
from tiebreak.domains.rust.rewards import RewardTable, terms
from tiebreak.domains.rust.toolbox import Reply, apply_patch, project_root, read_file, refusal
from tiebreak.domains.rust.transcript import Transcript, read_transcript

Judge = Callable[[Sequence[Ask]], Sequence[Verdict]]
"""What answers asks, in their order: a `verdicts.Judge`."""


@dataclass(frozen=True)
class CallRecord:
    """A call that was answered, and whether it succeeded."""

    tool: str
    id: str
    params: Mapping[str, str]
    ok: bool


@dataclass(frozen=True)
class _Open:
    """A call of the latest turn: either its reply is known or a verdict is needed."""

    call: Call
    todo: Reply | Ask


def prompt(case: Blueprint, system_message: str | None = None) -> list[Message]:
    """The opening messages of a case, for SFT, RL and evaluation alike; None is the published system message."""
    user = case.user.replace(PLACEHOLDER, project_root(case.case_id))
    system = SYSTEM_MESSAGE if system_message is None else system_message
    return [{"role": "system", "content": system}, {"role": "user", "content": user}]


class RustEpisode:
    """One conversation about one case (`domains.base.Episode`).

    tool_rounds: how many turns may hold calls, and how many calls there may be in all.
    files: the crate's files as they are now; calls, verdicts: what was answered, in order; tampered: the immutable
    parts that the model tried to change; stop: None while the episode goes on.
    """

    def __init__(
        self,
        case: Blueprint,
        messages: Sequence[Message],
        *,
        tool_rounds: int,
        read_limit: int = READ_LIMIT,
        output_limit: int = OUTPUT_LIMIT,
    ) -> None:
        self.case = case
        self.messages: list[Message] = list(messages)
        self.stop: Stop | None = None
        self.files: dict[str, str] = dict(case.files)
        self.calls: list[CallRecord] = []
        self.verdicts: list[Verdict] = []
        self.tampered: list[str] = []
        self.rounds = 0
        self._opening = len(messages)
        self._tool_rounds = tool_rounds
        self._limits = read_limit, output_limit
        self._root = project_root(case.case_id)
        self._open: list[_Open] = []

    @property
    def turns(self) -> list[Message]:
        """The messages after the opening: assistant and tool turns."""
        return self.messages[self._opening :]

    @property
    def succeeded(self) -> bool:
        """Whether some cargo call succeeded."""
        return any(record.ok and record.tool in CARGO_TOOLS for record in self.calls)

    @property
    def waiting(self) -> bool:
        """Whether `resume` must be called before the next turn."""
        return bool(self._open)

    def act(self, content: str) -> None:
        """Take the assistant's next turn: set `stop`, or run its file tools and queue its cargo calls in line order."""
        if self.stop is not None or self._open:
            raise ValueError(f"{self.case.case_id}: act() on an episode that " + (self.stop or "waits for its replies"))
        self.messages.append({"role": "assistant", "content": content})
        turn = parse_turn(content)
        self.stop = self._decide(turn)
        if self.stop is None:
            self.rounds += 1
            self._queue(turn)

    def halt(self, stop: Stop) -> None:
        """End the episode from outside; open calls stay unanswered."""
        self.stop = stop
        self._open = []

    def count(self, prompt_tokens: int, new_tokens: int) -> None:
        """Tokens pay nothing here."""

    def meet(self, policy: Policy) -> None:
        """No tool asks the policy here."""

    def recall(self, facts: Mapping[str, Any]) -> None:
        """Nothing was asked of it."""

    def pending_asks(self) -> list[Ask]:
        """The verdicts that `resume` needs, in order."""
        return [item.todo for item in self._open if isinstance(item.todo, Ask)]

    def resume(self, verdicts: Sequence[Verdict]) -> None:
        """Append one tool message for each open call, in line order; `verdicts` answer `pending_asks`."""
        if len(verdicts) != len(self.pending_asks()):
            raise ValueError(f"{self.case.case_id}: {len(verdicts)} verdicts for {len(self.pending_asks())} asks")
        remaining = iter(verdicts)
        for item in self._open:
            if isinstance(item.todo, Reply):
                self._reply(item.call, item.todo)
            else:
                verdict = next(remaining)
                self.verdicts.append(verdict)
                self._reply(item.call, cargo_reply(verdict, item.call.tool, self.case.expected_output))
        self._open = []

    def _decide(self, turn: ParsedTurn) -> Stop | None:
        if turn.malformed:
            return "malformed"
        if turn.finals or not turn.calls:
            return "final"
        over = self.rounds >= self._tool_rounds or len(self.calls) + len(turn.calls) > self._tool_rounds
        return "budget" if over else None

    def _queue(self, turn: ParsedTurn) -> None:
        answered = {record.id for record in self.calls}
        for call in turn.calls:
            repeated = Reply(False, stderr="this id was already answered, use a new one")
            self._open.append(_Open(call, repeated if call.id in answered else self._run(call)))
            answered.add(call.id)

    def _run(self, call: Call) -> Reply | Ask:
        """The reply of a file tool, or what a cargo call asks of the files as they are at its place in the turn."""
        refused = refusal(call, self._root)
        if refused is not None:
            return refused
        if call.tool == "read_file":
            return read_file(self.files, self._root, call, self._limits[0])
        if call.tool == "apply_patch":
            reply = apply_patch(self.files, self._root, call)
            self.tampered += [reply.tampered] if reply.tampered else []
            return reply
        return Ask.of("cargo_run" if call.tool == "cargo_run" else "cargo_test", self.files)

    def _reply(self, call: Call, reply: Reply) -> None:
        content = format_result(call.id, reply.ok, reply.stdout, reply.stderr, reply.timed_out, self._limits[1])
        self.messages.append({"role": "tool", "content": content})
        self.calls.append(CallRecord(call.tool, call.id, dict(call.params), reply.ok))


def cargo_reply(verdict: Verdict, tool: str, expected_output: str | None) -> Reply:
    """A verdict as the model sees it: `cargo_run` fails if stdout, stripped, is not the expected output.

    `cargo_test` fails if there was no test to pass, or a crate without tests would pay like a repaired one.
    """
    stdout, stderr = verdict.stdout.strip(), verdict.stderr.strip()
    wrong = tool == "cargo_run" and expected_output is not None and stdout != expected_output.strip()
    if verdict.ok and wrong:
        return Reply(False, stdout, f'expected exact output "{expected_output}"')
    if verdict.ok and tool == "cargo_test" and verdict.tests_total == 0:
        return Reply(False, stdout, "error: no tests ran, so nothing was shown")
    return Reply(verdict.ok, stdout, stderr, verdict.timed_out)


def answer(judge: Judge, episodes: Sequence[RustEpisode]) -> None:
    """Reply to the open calls of all these episodes, with one call of the judge."""
    waiting = [episode for episode in episodes if episode.waiting]
    asks = [episode.pending_asks() for episode in waiting]
    verdicts = iter(judge([ask for part in asks for ask in part]) if any(asks) else [])
    for episode, part in zip(waiting, asks, strict=True):
        episode.resume([next(verdicts) for _ in part])


def facts_of(episode: RustEpisode) -> Facts:
    """The facts that the toolbox knows (profile `true`)."""
    return witnessed(episode.verdicts)


def outcome(episode: RustEpisode, tables: Mapping[str, RewardTable]) -> Outcome:
    """What a finished episode came to, with its reward under every table.

    An episode that stopped with `error` has no rewards: an infrastructure failure is never a score.
    """
    if episode.stop is None:
        raise ValueError(f"{episode.case.case_id}: outcome() of an episode that goes on")
    transcript = read_transcript(episode.turns)
    calls = [asdict(record) | {"params": json.dumps(record.params, sort_keys=True)} for record in episode.calls]
    return Outcome(
        stop=episode.stop,
        valid=transcript.valid,
        success=transcript.first_success is not None,
        facts=asdict(facts_of(episode)) | {"tampered": list(episode.tampered), "calls": calls},
        rewards={} if episode.stop == "error" else _rewards(episode, transcript, tables),
    )


def episode_terms(episode: RustEpisode, table: RewardTable) -> dict[str, float]:
    """The reward of a finished episode under `table`, term by term."""
    return terms(read_transcript(episode.turns), episode.stop == "budget", table, facts_of(episode))


def _rewards(episode: RustEpisode, transcript: Transcript, tables: Mapping[str, RewardTable]) -> dict[str, float]:
    exhausted, facts = episode.stop == "budget", facts_of(episode)
    return {name: sum(terms(transcript, exhausted, table, facts).values()) for name, table in tables.items()}
