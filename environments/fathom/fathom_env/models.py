"""What travels: actions, observations and states. Nothing of them holds the answer before the end, or a seed ever."""

from typing import Any

from openenv.core.env_server.types import Action, Observation, State
from pydantic import Field

from tiebreak.domains.fathom.orders import LARGEST_TURN, Act


class FathomAction(Action):
    """One turn: as a model writes it (`turn`), or its code or its answer alone."""

    act: Act = Field("turn", description="turn: text with fenced Python or <answer> tags; code: Python; answer: a text")
    text: str = Field(max_length=LARGEST_TURN, description="the turn, the code or the answer")


class FathomObservation(Observation):
    """What a model sees that it was not told before, what is left, and, at the end, what it came to."""

    messages: list[dict[str, str]] = Field(default_factory=list, description="new messages: role and content")
    rounds_left: int = Field(0, description="turns that may still run code")
    calls: int = Field(0, description="calls of llm() so far")
    calls_left: int = Field(0, description="calls of llm() that are left")
    refused: int = Field(0, description="calls of llm() that were refused")
    tree: list[dict[str, Any]] = Field(
        default_factory=list, description="calls of llm(): depth, parent, prompt, characters, answer, refused"
    )
    result: dict[str, Any] | None = Field(
        None, description="at the end: stop, answer, gold_answer, correct, and terms and rewards by shape"
    )


class FathomState(State):
    """Where an episode stands."""

    kind: str | None = Field(None, description="of the task")
    characters: int = Field(0, description="of the document")
    shape: str | None = Field(None, description="the table that `reward` follows")
    responder: str | None = Field(None, description="what answers llm()")
    turns: int = 0
    rounds_left: int = 0
    calls: int = 0
    calls_left: int = 0
    refused: int = 0
    deepest: int = 0
    tree: list[dict[str, Any]] = Field(default_factory=list)
    over: bool = Field(False, description="whether the episode has ended")
