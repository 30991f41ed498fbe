"""What somebody may ask of a server of episodes, what the server allows, and the tasks that it deals."""

import secrets
from collections.abc import Mapping
from dataclasses import replace
from random import Random
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tiebreak.domains.fathom.answers import extract
from tiebreak.domains.fathom.calls import Responder, halving, stub
from tiebreak.domains.fathom.episode import Settings
from tiebreak.domains.fathom.generator import KINDS, make
from tiebreak.domains.fathom.repl import LIMITS
from tiebreak.domains.fathom.tasks import Task
from tiebreak.domains.fathom.templates import Kind
from tiebreak.domains.fathom.traces import answered
from tiebreak.errors import BlueprintError, ConfigError
from tiebreak.sandbox.limits import MIB
from tiebreak.seeds import derive

PREFIX = "TIEBREAK_FATHOM_"
LARGEST_TURN = 65_536  # characters
RESPONDERS: Mapping[str, Responder] = {"stub": stub, "halving": halving}
Shape = Literal["v1_gate", "v2_soft", "v3_recursion"]
Act = Literal["turn", "code", "answer"]


class Order(BaseModel):
    """What somebody asks for: a kind of task (or any, by the published shares), a length, a reward shape."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Kind | None = Field(None, description="of the task; none: drawn by the published shares")
    characters: int = Field(8_000, ge=1_000, le=200_000, description="length of the document at most")
    shape: Shape = Field("v3_recursion", description="the reward table that `reward` follows")
    responder: Literal["stub", "halving"] = Field("stub", description="what answers llm(): no language model, either")
    seed: int | None = Field(None, ge=0, description="the same seed gives the same task, on this server alone")


class Allowance(BaseModel):
    """What a server allows. Each field is set by a variable of the environment, TIEBREAK_FATHOM_ and its name."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    sessions: int = Field(32, ge=1, description="sessions at the same time")
    idle_seconds: float = Field(600, gt=0, description="of silence after which a session is closed")
    tool_rounds: int = Field(8, ge=1, description="turns with code in an episode")
    most_calls: int = Field(16, ge=0, description="calls of llm() in an episode")
    most_depth: int = Field(4, ge=0, description="how deep calls of llm() may go")
    output_limit: int = Field(2_000, ge=20, description="characters of a reply")
    cpu_seconds: int = Field(5, ge=1, description="CPU time of an episode's REPL")
    wall_seconds: int = Field(20, ge=1, description="wall time of a turn")
    memory_mib: int = Field(256, ge=64, description="memory of a REPL")

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> "Allowance":
        """From the variables of an environment. Raises ConfigError, naming the variable."""
        names = [name for name in environment if name.startswith(PREFIX)]
        try:
            return cls.model_validate({name.removeprefix(PREFIX).lower(): environment[name] for name in names})
        except ValidationError as error:
            first = error.errors()[0]
            name = PREFIX + str(first["loc"][0]).upper()
            known = ", ".join(PREFIX + field.upper() for field in cls.model_fields)
            raise ConfigError(f"{name} is {environment[name]!r}: {first['msg'].lower()}; known are {known}") from None

    def settings(self, responder: str) -> Settings:
        """The settings of an episode."""
        limits = replace(
            LIMITS,
            cpu_seconds=self.cpu_seconds,
            wall_seconds=self.wall_seconds,
            memory_bytes=self.memory_mib * MIB,
        )
        return Settings(
            output_limit=self.output_limit,
            most_calls=self.most_calls,
            most_depth=self.most_depth,
            respond=RESPONDERS[responder],
            limits=limits,
        )


class Dealer:
    """Tasks from streams of a secret, so that who knows generator and seed still has to read the document."""

    def __init__(self, secret: int | None = None) -> None:
        self._secret = secrets.randbits(63) if secret is None else secret

    def task(self, order: Order) -> Task:
        """The task of an order; a new one each time where it has no seed. Raises ConfigError where none fits."""
        seed = secrets.randbits(63) if order.seed is None else order.seed
        own = derive(self._secret, "fathom", "play", order.kind or "any", order.characters, seed)
        kind = order.kind or Random(own).choices(list(KINDS), list(KINDS.values()))[0]
        try:
            return make(kind, order.characters, own, 0)
        except BlueprintError as error:
            raise ConfigError(f"{error}; or ask for another length") from None


def as_turn(act: Act, text: str) -> str:
    """An action as the turn that a model would write. Raises ConfigError for code that would end the episode."""
    if act == "answer":
        return answered(text)
    if act == "turn":
        return text
    if extract(text) is not None:
        raise ConfigError("the code holds a pair of <answer> tags, which end an episode unrun; write them in parts")
    ticks = "```"
    while ticks in text:
        ticks += "`"
    return f"{ticks}python\n{text}\n{ticks}"
