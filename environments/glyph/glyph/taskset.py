"""The taskset and the harness for verifiers 0.4: the harness is the loop that asks the model, Tiebreak does the rest.

The harness runs no program: it talks to the rollout's endpoint from here, and so needs no runtime but the local one.
"""

import json
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import verifiers.v1 as vf
from openai import AsyncOpenAI, BadRequestError
from openai.types.chat.chat_completion import Choice
from pydantic import Field, PrivateAttr

from tiebreak.chat import Message
from tiebreak.environment import TERM, Environment, same_words
from tiebreak.opening import environment
from tiebreak.rollout import Played

OVERLONG = ("context length", "maximum model length", "prompt_too_long")
"""What endpoints say where a prompt leaves no room for a turn."""


class GlyphTaskConfig(vf.TaskConfig):
    """What `tiebreak.opening.environment` takes."""

    timeout: int | None = None
    max_tool_rounds: int = 15
    seed: int = 0
    arm: str = "sparse"
    reward: dict[str, Any] | None = None
    cases: str | None = None
    prompts: str | None = None
    toolbox: dict[str, Any] | None = None

    def environment(self) -> Environment:
        """The environment of these arguments, one a process."""
        return opened(self.model_dump_json(include=GlyphTaskConfig.__annotations__.keys()))


@lru_cache
def opened(arguments: str) -> Environment:
    """The environment of arguments as JSON."""
    return environment(**json.loads(arguments))


class GlyphTasksetConfig(vf.TasksetConfig):
    """The taskset's config; its task's says everything."""

    task: GlyphTaskConfig = GlyphTaskConfig()


class GlyphData(vf.TaskData):
    """Which case a rollout is about."""

    case_id: str
    family: str
    template: str


class GlyphState(vf.State):
    """What a rollout came to; in this process also the conversation itself, and the environment that it is of."""

    metrics: dict[str, float] = Field(default_factory=dict)
    _tasks: Environment = PrivateAttr()
    _played: Played = PrivateAttr()
    _full: bool = PrivateAttr(default=False)  # whether no room was left for a turn


class GlyphTask(vf.Task[GlyphData, GlyphState, GlyphTaskConfig]):
    """A case. An infrastructure failure is an error of its trace and no reward."""

    @property
    def key(self) -> str:
        """The case's name."""
        return self.data.case_id

    async def setup(self, trace: vf.Trace, runtime: vf.Runtime) -> None:
        """Open the conversation."""
        trace.state._tasks = self.config.environment()
        trace.state._played = trace.state._tasks.open(self.data.case_id)

    async def finalize(self, trace: vf.Trace, runtime: vf.Runtime) -> None:
        """The outcome and the grade. A rollout that was stopped from outside, by its wall time above all, has none."""
        ended = trace.state._played.episode.stop is not None or trace.state._full
        if trace.is_timeout or not ended:
            raise vf.TaskError(f"the rollout was stopped from outside ({trace.stop_condition}), which is no outcome")
        verdict = await trace.state._tasks.verdict(trace.state._played)
        trace.state.metrics = verdict.metrics
        trace.stop(verdict.stop)

    @vf.reward
    async def terms(self, trace: vf.Trace) -> dict[str, float]:
        """The reward, term by term; of a rollout whose grade did not come in time there is none."""
        if not trace.state.metrics:
            raise vf.TaskError(f"the rollout was not graded ({trace.stop_condition}), so it has no reward")
        return {name: value for name, value in trace.state.metrics.items() if name.startswith(TERM)}

    @vf.metric
    async def outcome(self, trace: vf.Trace) -> dict[str, float]:
        """valid, success and graded."""
        return {name: value for name, value in trace.state.metrics.items() if not name.startswith(TERM)}


class GlyphTaskset(vf.Taskset[GlyphTask, GlyphTasksetConfig]):
    """The cases of an environment."""

    def load(self) -> Iterator[GlyphTask]:
        """A task for each case."""
        for row in self.config.task.environment().rows():
            system, user = (message["content"] for message in row["prompt"])
            yield GlyphTask(GlyphData(prompt=user, system_prompt=system, **row["info"]), self.config.task)


class GlyphHarness(vf.Harness[vf.HarnessConfig]):
    """The agent loop: it asks with the conversation's own bytes and a seed of each turn."""

    APPENDS_SYSTEM_PROMPT = True
    EXECUTES_CODE = False  # what the model wrote runs in Tiebreak's own sandbox, and only there
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        """Play the conversation to its end."""
        played, tasks = trace.state._played, trace.state._tasks
        if [data.system_prompt, data.prompt] != [message["content"] for message in played.episode.messages]:
            raise ValueError(
                "the prompt is not the case's own: every stage shows the same, and no other can be put there"
            )
        sent: list[dict[str, Any]] = [dict(message) for message in played.episode.messages]
        async with AsyncOpenAI(base_url=endpoint, api_key=secret, max_retries=0, timeout=None) as client:
            while played.episode.stop is None and (choice := await ask(client, ctx.model, sent, played)):
                sent.append({"role": "assistant", "content": choice.message.content or ""})
                replies = await tasks.turn(played, sent[-1]["content"], complete=choice.finish_reason != "length")
                ids = [record.id for record in played.episode.calls][-len(replies) :]
                sent += [{**reply, "tool_call_id": name} for name, reply in zip(ids, replies, strict=False)]
        trace.state._full = played.episode.stop is None
        trace.stop(played.episode.stop or "tokens")  # verifiers' own word comes after, and the first one stays
        return vf.ProgramResult(0, "", "")


async def ask(client: AsyncOpenAI, model: str, sent: list[dict[str, Any]], played: Played) -> Choice | None:
    """The model's next turn; None where the conversation leaves no room for one.

    Raises ValueError where a server took something out of the turn: it could not be put back.
    """
    same_words([Message(role=one["role"], content=one["content"]) for one in sent], played)
    seed = played.attempt.seed(len(played.replies))
    try:
        completion = await client.chat.completions.create(model=model, messages=sent, seed=seed)
    except BadRequestError as problem:
        if any(words in str(problem).lower() for words in OVERLONG):
            return None
        raise
    choice = completion.choices[0]
    extra = choice.message.model_extra or {}
    if choice.message.tool_calls or extra.get("reasoning_content") or extra.get("reasoning"):
        raise ValueError("a part was taken out of the turn; serve the model without parsers for reasoning and tools")
    if choice.finish_reason not in ("stop", "length"):
        raise ValueError(f"a turn ended for {choice.finish_reason!r}: stop or length is expected")
    return choice


class GlyphEnvConfig(vf.SingleAgentEnvConfig):
    """The agent plays on this machine: nothing of what it says runs in its runtime."""

    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class GlyphEnv(vf.Env[GlyphEnvConfig]):
    """One agent, one conversation."""

    async def run(self, task: vf.Task, agents: vf.Agents) -> None:
        """Play it."""
        await agents.agent.run(task)
