"""A transcript, read: which calls were made, which replies answer them, and the published predicate `valid`."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from tiebreak.chat import Message
from tiebreak.domains.rust.protocol import Call, ParsedTurn, parse_turn, result_head


@dataclass(frozen=True)
class Answered:
    """A call with its reply: `ok` is None where there is none; `output` is all that follows the status."""

    call: Call
    ok: bool | None = None
    output: str = ""


@dataclass(frozen=True)
class Transcript:
    """turns: the assistant turns; answered: their calls in order; in_order: each call got its reply, in call order."""

    turns: tuple[ParsedTurn, ...]
    answered: tuple[Answered, ...]
    in_order: bool

    @cached_property
    def cargo(self) -> list[Answered]:
        """The cargo calls that have a reply."""
        return [item for item in self.answered if item.call.is_cargo and item.ok is not None]

    @cached_property
    def first_success(self) -> int | None:
        """The place in `answered` of the first cargo call that succeeded."""
        hits = (place for place, item in enumerate(self.answered) if item.call.is_cargo and item.ok)
        return next(hits, None)

    @property
    def calls_after_success(self) -> int:
        """How many calls follow the first success."""
        return 0 if self.first_success is None else len(self.answered) - 1 - self.first_success

    @property
    def malformed(self) -> int:
        """How many lines start as a call and are none."""
        return sum(turn.malformed for turn in self.turns)

    @property
    def names_source(self) -> bool:
        """Whether a cargo call's path names a source file."""
        return any(item.call.names_source for item in self.answered)

    @property
    def protocol_error(self) -> bool:
        """Whether anything in it breaks the protocol."""
        return self.malformed > 0 or self.names_source

    @property
    def finals(self) -> int:
        """How many line-initial `FINAL:` there are."""
        return sum(turn.finals for turn in self.turns)

    @property
    def valid(self) -> bool:
        """The published predicate (docs/contracts.md); a call after FINAL is a call after the success."""
        ended_well = self.finals == 1 and self.turns[-1].opens_final and self.first_success is not None
        return ended_well and self.calls_after_success == 0 and self.in_order and not self.protocol_error


def read_transcript(turns: Iterable[Message]) -> Transcript:
    """Read the turns ({role, content}) of an episode. Roles other than assistant and tool are passed over.

    A reply belongs to the first open call whose id it names; if that is not the first open call, or a call is still
    open when the assistant speaks again or at the end, the transcript is not `in_order`.
    """
    parsed: list[ParsedTurn] = []
    answered: list[Answered] = []
    waiting: list[int] = []
    in_order = True
    for turn in turns:
        if turn["role"] == "assistant":
            in_order = in_order and not waiting
            parsed.append(parse_turn(turn["content"]))
            waiting += range(len(answered), len(answered) + len(parsed[-1].calls))
            answered += map(Answered, parsed[-1].calls)
        elif turn["role"] == "tool":
            place = next((p for p in waiting if _answer(answered[p].call, turn["content"]).ok is not None), None)
            in_order = in_order and place is not None and place == waiting[0]
            if place is not None:
                waiting.remove(place)
                answered[place] = _answer(answered[place].call, turn["content"])
    return Transcript(tuple(parsed), tuple(answered), in_order and not waiting)


def _answer(call: Call, reply: str) -> Answered:
    """The call with `reply`, if that is a reply to it."""
    head = result_head(call.id)
    status, _, output = reply[len(head) :].partition("\n")
    if not reply.startswith(head) or status not in ("success", "failed"):
        return Answered(call)
    return Answered(call, status == "success", output)


def is_valid(turns: Iterable[Message]) -> bool:
    """Whether a transcript is *valid* in the published sense."""
    return read_transcript(turns).valid
