"""The environment for verifiers 0.1: its loop asks the model, Tiebreak does the rest.

Source of what its loop does in which order: verifiers at commit dd89b5e, envs/multiturn_env.py.
"""

import copy
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import verifiers as vf
from datasets import Dataset
from verifiers.utils.message_utils import normalize_messages

from tiebreak.chat import Message
from tiebreak.environment import TERM, Environment, same_words
from tiebreak.errors import TiebreakError
from tiebreak.rollout import Played


class GlyphEnv(vf.MultiTurnEnv):
    """A rollout's `state["played"]` is its conversation, `state["verdict"]` what it came to.

    An infrastructure failure is the rollout's `error`; its reward and metrics are then 0 and mean nothing.
    """

    def __init__(self, tasks: Environment, **options: Any) -> None:
        self.tasks = tasks
        super().__init__(dataset=lambda: Dataset.from_list(tasks.rows()), rubric=rubric(tasks), **options)

    async def setup_state(self, state: vf.State) -> vf.State:
        """Open the rollout's conversation."""
        state["played"] = self.tasks.open(state["info"]["case_id"])
        return state

    async def get_model_response(self, state: vf.State, prompt: vf.Messages, *_: Any, **__: Any) -> vf.Response:
        """The model's turn, asked for with the conversation's own bytes and a seed of this turn."""
        played: Played = state["played"]
        with refusals(vf.Error):
            same_words([plain(message) for message in prompt], played)
        seed = played.attempt.seed(len(played.replies))
        sampling = {**(state["sampling_args"] or {}), "seed": seed}
        client = patient(state["client"])
        return whole(await super().get_model_response(state, prompt, client=client, sampling_args=sampling))

    async def env_response(self, messages: vf.Messages, state: vf.State, **_: Any) -> vf.Messages:
        """The tools' replies to the model's turn; none where it ended the conversation."""
        played, step = state["played"], state["trajectory"][-1]
        with refusals(vf.InfraError):
            text = plain(messages[-1])["content"]
            replies = await self.tasks.turn(played, text, complete=not step["is_truncated"])
        if played.episode.stop is not None:
            state["final_env_response"] = []
        ids = [record.id for record in played.episode.calls]
        return [
            vf.ToolMessage(role="tool", tool_call_id=call_id, content=reply["content"])
            for call_id, reply in zip(ids[len(ids) - len(replies) :], replies, strict=True)
        ]

    @vf.stop(priority=50)
    async def final(self, state: vf.State) -> bool:
        """The model said FINAL, or called nothing."""
        return stop(state) == "final"

    @vf.stop(priority=50)
    async def malformed(self, state: vf.State) -> bool:
        """A call line could not be read."""
        return stop(state) == "malformed"

    @vf.stop(priority=50)
    async def budget(self, state: vf.State) -> bool:
        """The model asked for more calls than it may make."""
        return stop(state) == "budget"

    @vf.stop(priority=50)
    async def tokens(self, state: vf.State) -> bool:
        """A limit of tokens cut a turn, or left no room for one."""
        return stop(state) == "tokens" or state.get("prompt_too_long", False)

    @vf.cleanup(priority=200)
    async def judge(self, state: vf.State) -> None:
        """The outcome and the grade, before the rollout is rendered and scored (a rubric turns exceptions into 0)."""
        if state.get("timed_out") and state["error"] is None:
            state["error"] = vf.InfraError("the rollout ran out of wall time, which is no outcome")
        if state["error"] is not None or "played" not in state:
            return
        try:
            state["verdict"] = await self.tasks.verdict(state["played"])
        except TiebreakError as problem:
            state["error"] = vf.InfraError(str(problem))

    async def render_completion(self, state: vf.State) -> None:
        """All that followed the prompt: also replies that no turn of the model's followed."""
        await super().render_completion(state)
        if "verdict" in state:
            played: Played = state["played"]
            shown = len(state["prompt"]) + len(state["completion"])
            rest = [{**message, "tool_call_id": ""} for message in played.episode.messages[shown:]]
            state["completion"] += normalize_messages(rest)


def rubric(tasks: Environment) -> vf.Rubric:
    """The reward is the sum of its terms; every metric of a verdict is one of the rollout's."""
    names = tasks.metrics()
    return vf.Rubric(funcs=[reader(name) for name in names], weights=[float(name.startswith(TERM)) for name in names])


def reader(name: str) -> vf.RewardFunc:
    """The function that reads one metric of the rollout's verdict."""

    async def read(state: vf.State) -> float:
        return state["verdict"].metrics[name] if "verdict" in state else 0.0

    read.__name__ = name
    return read


def stop(state: vf.State) -> str | None:
    """Why the rollout's conversation ended; None while it goes on."""
    return state["played"].episode.stop if "played" in state else None


def plain(message: vf.Message) -> Message:
    """A message as Tiebreak has it; one that is not text alone is shown as what it is, and then differs."""
    content = message.content
    return {"role": message.role, "content": content if isinstance(content, str) else repr(content) if content else ""}


def whole(response: vf.Response) -> vf.Response:
    """The response, if it is the whole turn as text; what a server took out of it could not be put back.

    Raises InvalidModelResponseError.
    """
    message = response.message
    if message.reasoning_content or message.tool_calls:
        part = "reasoning" if message.reasoning_content else "tool calls"
        raise vf.InvalidModelResponseError(f"{part} was taken out of the turn; serve the model without a parser for it")
    if message.finish_reason is None:
        raise vf.InvalidModelResponseError("the server does not say whether the turn ended or was cut")
    return response


def patient(client: vf.Client) -> vf.Client:
    """The client, for which an empty turn is a turn: a model that says nothing is no failure of the machine."""
    own = copy.copy(client)

    async def accept(response: Any) -> None:
        with suppress(vf.EmptyModelResponseError):
            await client.raise_from_native_response(response)

    own.raise_from_native_response = accept
    return own


@contextmanager
def refusals(kind: type[vf.Error]) -> Iterator[None]:
    """Turn Tiebreak's errors into one that ends the rollout."""
    try:
        yield
    except TiebreakError as problem:
        raise kind(str(problem)) from problem
