"""An episode of the fathom domain: turns with fenced Python are run and answered, `<answer>` ends it.

The gold answer stays out here: the REPL holds the document and nothing else of the task.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from tiebreak.chat import Message, render
from tiebreak.domains.base import Aside, Policy, Stop
from tiebreak.domains.fathom import calls as budgets
from tiebreak.domains.fathom.answers import extract
from tiebreak.domains.fathom.calls import Budget, Responder
from tiebreak.domains.fathom.code import blocks, textual_calls
from tiebreak.domains.fathom.prompts import estimated_tokens, opening
from tiebreak.domains.fathom.repl import LIMITS, Ran, Repl
from tiebreak.errors import EngineError
from tiebreak.sandbox.limits import Limits

Mode = Literal["multi", "single"]
OUTPUT_LIMIT = 2_000
SILENT = "(no output)"

Opening = Callable[[str, str], list[Message]]
"""(prompt, chunk) -> the messages that open an episode about it."""


@dataclass(frozen=True)
class Settings:
    """mode: whether code runs (`multi`) or the first turn is the last (`single`). output_limit: characters of a reply.

    most_calls, most_depth: of `llm()`, over the whole episode. respond: what answers it; None is the policy that plays.
    opening: what opens an episode within an episode, of a policy that answers.
    """

    mode: Mode = "multi"
    output_limit: int = OUTPUT_LIMIT
    most_calls: int = budgets.MOST_CALLS
    most_depth: int = budgets.MOST_DEPTH
    respond: Responder | None = budgets.stub
    opening: Opening = opening
    limits: Limits = LIMITS


@dataclass(frozen=True)
class Block:
    """How the code of one turn went. cut: whether the reply is shorter than what was printed."""

    ok: bool
    cut: bool
    ended: str | None


class FathomEpisode:
    """One conversation over one document (`domains.base.Episode`).

    tool_rounds: how many turns may run code. depth: 0, or how deep in the recursion this one is; `budget` is then the
    one of the episode that asked. answer: what stood in the tags of the last turn.
    """

    def __init__(
        self,
        document: str,
        messages: Sequence[Message],
        *,
        tool_rounds: int,
        settings: Settings | None = None,
        depth: int = 0,
        budget: Budget | None = None,
    ) -> None:
        self.settings = settings or Settings()
        self.messages: list[Message] = list(messages)
        self.stop: Stop | None = None
        self.answer: str | None = None
        self.depth = depth
        self.budget = budget or Budget(self.settings.most_calls, self.settings.most_depth)
        self.ran: list[Block] = []
        self._opening = len(messages)
        self._tool_rounds = tool_rounds
        self._open: list[str] = []
        self._tokens: tuple[int, int] | None = None
        self._respond = self.settings.respond
        self._repl = Repl(document, self._ask, self.settings.limits)

    @property
    def waiting(self) -> bool:
        """Whether `run` must be called before the next turn."""
        return bool(self._open)

    @property
    def calls(self) -> int:
        """Calls of `llm()`: executed ones, and in single-turn mode those that the text says."""
        if self.settings.mode == "multi":
            return self.budget.calls
        return sum(textual_calls(turn["content"]) for turn in self._written)

    @property
    def tokens(self) -> tuple[int, int]:
        """Tokens of the prompt, and of all that the model wrote; estimated from characters where nobody counted."""
        if self._tokens is not None:
            return self._tokens
        opening = render(self.messages[: self._opening], generate=True)
        return estimated_tokens(opening), sum(estimated_tokens(turn["content"]) for turn in self._written)

    def count(self, prompt_tokens: int, new_tokens: int) -> None:
        """Told after each turn: tokens of the rendered prompt, and of the model's own turns so far."""
        self._tokens = prompt_tokens, new_tokens

    def meet(self, policy: Policy) -> None:
        """Told before the first turn who plays; it answers `llm()` where the settings name nobody else."""
        if self.settings.respond is None:
            options = {"tool_rounds": self._tool_rounds, "settings": self.settings}
            self._respond = asking(policy, self.settings.opening, **options)  # type: ignore[arg-type]

    def recall(self, facts: Mapping[str, Any]) -> None:
        """Told before stored turns are said again: what the policy replied is as it was."""
        if self.settings.respond is None:
            self._respond = budgets.recalling(facts["asked"])

    def act(self, content: str) -> None:
        """Take the assistant's next turn: set `stop`, or leave its code to `run`."""
        if self.stop is not None or self._open:
            raise ValueError("act() on an episode that " + (self.stop or "waits for its replies"))
        self.messages.append({"role": "assistant", "content": content})
        self.answer = extract(content)
        found = [] if self.settings.mode == "single" else blocks(content)
        if self.answer is not None or not found:
            self.halt("final")
        elif len(self.ran) >= self._tool_rounds:
            self.halt("budget")
        else:
            self._open = found

    def run(self) -> None:
        """Run the code of the latest turn and append what it printed as a tool's turn."""
        try:
            ran = self._repl.run(self._open)
        except BaseException:
            self.halt("error")
            raise
        self._open = []
        content, cut = reply(ran, self.settings.output_limit)
        self.messages.append({"role": "tool", "content": content})
        self.ran.append(Block(ran.ok, cut, ran.ended))

    def halt(self, stop: Stop) -> None:
        """End the episode, from outside too; its process is gone when this returns."""
        self.stop = stop
        self._open = []
        self._repl.close()

    def abandon(self) -> None:
        """Have the code that runs ended soon, so that `run` returns; for another thread than that of `run`."""
        self._repl.abandon()

    def _ask(self, prompt: str, chunk: str) -> dict[str, str]:
        if self._respond is None:
            raise EngineError("llm() is to be answered by the policy that plays, and nobody told who that is")
        return budgets.answer(self._respond, self.budget, self.depth + 1, prompt, chunk)

    @property
    def _written(self) -> list[Message]:
        return [turn for turn in self.messages[self._opening :] if turn["role"] == "assistant"]


def reply(ran: Ran, limit: int) -> tuple[str, bool]:
    """What the model reads of a run, and whether it was cut: at most `limit` characters of output, then remarks."""
    text = ran.output.strip("\n")
    cut = len(text) > limit
    remarks = [f"[cut at {limit} characters]"] if cut else []
    if ran.ended is not None:
        remarks.append(f"[the REPL is gone, its names with it: {ran.ended}]")
    return "\n".join([*([text[:limit]] if text else []), *remarks]) or SILENT, cut


def asking(policy: Policy, opening: Opening, *, tool_rounds: int, settings: Settings) -> Responder:
    """A responder by which a policy answers: an episode of its own over the chunk, on the budget of the one that asked.

    policy: gives a side conversation by the number of the call; opening: (prompt, chunk) -> the messages before it. An
    episode that ends without an answer says nothing.
    """

    def respond(prompt: str, chunk: str, depth: int, budget: Budget) -> str:
        inner = replace(settings, respond=respond)
        aside = policy(budget.calls)
        episode = FathomEpisode(
            chunk, opening(prompt, chunk), tool_rounds=tool_rounds, settings=inner, depth=depth, budget=budget
        )
        try:
            converse(episode, aside)
        finally:
            budget.tokens += aside.tokens
            episode.halt(episode.stop or "error")
        if depth == 1:
            budget.replied(episode.answer or "")
        return episode.answer or ""

    return respond


def converse(episode: FathomEpisode, aside: Aside) -> None:
    """Play an episode by itself to its end; a turn that a token limit cut ends it and is never run."""
    told = 0
    while episode.stop is None:
        said = aside.say(episode.messages[told:])
        told = len(episode.messages) + 1
        if said is None:
            episode.halt("tokens")
        else:
            episode.act(said)
        if episode.waiting:
            episode.run()
