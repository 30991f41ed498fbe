"""The rewards of the Rust domain: one ladder of rules, and a table that shapes it where no cargo call succeeded.

Source of the ladder: docs/contracts.md; held against the published scorer's values on 260 transcripts.
"""

from collections.abc import Iterable, Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from tiebreak.chat import Message
from tiebreak.domains.rust import facts as fact_profiles
from tiebreak.domains.rust.facts import Facts
from tiebreak.domains.rust.transcript import Transcript, read_transcript

Profile = Literal["true", "published"]


class RewardTable(BaseModel):
    """An arm's reward shape: what is paid where no cargo call succeeded. The empty table is the sparse shape."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    compiled: float = Field(0.0, description="reward units if any cargo call compiled")
    tests_passed: float = Field(0.0, description="reward units times the best fraction of tests passed")
    phase: float = Field(0.0, description="reward units times a quarter of the furthest rustc phase (1 to 4)")
    profile: Profile = Field("true", description="whose facts: what the toolbox knows, or the published text scorer's")


# The three published arms.
PUBLISHED_TABLES: Mapping[str, RewardTable] = {
    "sparse": RewardTable(),
    "dense": RewardTable(compiled=0.5, tests_passed=2.0),
    "compiler": RewardTable(phase=2.5),
}

# The terms in the order in which the ladder applies them; `terms` always has all of them.
TERMS = (
    "no_call",
    "glued_call",
    "malformed_call",
    "source_path",
    "final_count",
    "no_cargo",
    "failed_cargo",
    "compiled",
    "tests_passed",
    "phase",
    "call_after_success",
    "valid",
    "cap",
    "budget",
)


def terms(
    turns: Iterable[Message] | Transcript,
    tool_budget_exhausted: bool,
    table: RewardTable,
    facts: Facts | None = None,
) -> dict[str, float]:
    """The reward of a transcript, term by term, in reward units; they add up to the reward, the cap being one of them.

    turns: {role, content} in order, or a transcript already read. facts: what the toolbox knows, for profile `true`;
    without them that profile reads the text as well as it can. Profile `published` always reads the text.
    """
    transcript = turns if isinstance(turns, Transcript) else read_transcript(turns)
    paid = dict.fromkeys(TERMS, 0.0)
    if not transcript.answered:
        return paid | {"no_call": -5.0, "malformed_call": -4.0 if transcript.malformed else 0.0}
    paid |= _penalties(transcript)
    if transcript.first_success is None:
        paid |= _shaping(facts_of(transcript, table.profile, facts), table)
    paid["call_after_success"] = -6.0 if transcript.calls_after_success else 0.0
    paid["valid"] = 10.0 if transcript.valid else 0.0
    so_far = sum(paid.values())
    paid["cap"] = -so_far if transcript.protocol_error and so_far > 0 else 0.0
    paid["budget"] = -5.0 if tool_budget_exhausted else 0.0
    return paid


def reward(
    turns: Iterable[Message] | Transcript,
    tool_budget_exhausted: bool,
    table: RewardTable,
    facts: Facts | None = None,
) -> float:
    """The sum of `terms`, added in their order."""
    return sum(terms(turns, tool_budget_exhausted, table, facts).values())


def facts_of(transcript: Transcript, profile: Profile, facts: Facts | None = None) -> Facts:
    """The facts under a profile: see `terms`."""
    if profile == "published":
        return fact_profiles.published(transcript)
    return fact_profiles.stated(transcript) if facts is None else facts


def _penalties(transcript: Transcript) -> dict[str, float]:
    """What a transcript with at least one call loses, apart from calls after the success and the budget."""
    until = len(transcript.answered) if transcript.first_success is None else transcript.first_success
    failed = sum(item.call.is_cargo and item.ok is False for item in transcript.answered[:until])
    glued = sum(turn.glued for turn in transcript.turns)
    return {
        "glued_call": 0.0 - 4.0 * min(glued, 4),  # not -4.0 * …, which is -0.0 where there is nothing to pay
        "malformed_call": -4.0 if transcript.malformed else 0.0,
        "source_path": -4.0 if transcript.names_source else 0.0,
        "final_count": 0.0 if transcript.finals == 1 else -3.0,
        "no_cargo": 0.0 if transcript.cargo else -3.0,
        "failed_cargo": 0.0 - min(failed, 4),
    }


def _shaping(facts: Facts, table: RewardTable) -> dict[str, float]:
    return {
        "compiled": table.compiled if facts.compiled else 0.0,
        "tests_passed": table.tests_passed * facts.fraction + 0.0,
        "phase": table.phase * facts.phase / 4 + 0.0,
    }
