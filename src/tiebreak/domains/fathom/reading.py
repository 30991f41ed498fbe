"""Stored rollouts of the fathom domain, read for audits (`domains.reading.Reader`)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tiebreak.domains.fathom.answers import is_correct
from tiebreak.domains.fathom.rescore import stored_terms
from tiebreak.domains.fathom.rewards import RewardTable, reward
from tiebreak.domains.fathom.tasks import Task
from tiebreak.domains.reading import Reading, StoredRollout
from tiebreak.errors import DataError

PHASES = ("nothing_run", "code_failed", "code_ran", "answered", "success")
SLIPS = ("no_answer", "empty_answer", "failed_block", "cut_output", "refused_call")


class FathomReader:
    """cases: those that the rollouts are of. tables: the reward table of each shape to score under.

    phases: an answer counts more than code, whatever came of the code. slips: `no_answer` and `empty_answer` are 1
    where the tags are missing or hold nothing; `refused_call` counts calls of `llm()` beyond the budget. Nothing here
    is after what a model may not touch: the sandbox holds the document alone.
    """

    phases: Sequence[str] = PHASES
    slips: Sequence[str] = SLIPS
    tampering: Sequence[str] = ()
    shaping: Sequence[str] = ("token_budget", "recursion", "present", "cap")

    def __init__(self, cases: Iterable[Task], tables: Mapping[str, RewardTable] | None = None) -> None:
        self.cases = {case.case_id: case for case in cases}
        self.tables = dict(tables or {})

    @property
    def shapes(self) -> Sequence[str]:
        """The shapes that rewards are computed for."""
        return list(self.tables)

    def read(self, rollout: StoredRollout) -> Reading:
        """Read one rollout. Raises DataError for a case that is not known, or a rollout without facts."""
        case = self.cases.get(rollout.case_id)
        if case is None:
            raise DataError(f"case {rollout.case_id} is not among the cases; give the cases.jsonl of the same study")
        if rollout.facts is None:
            raise DataError(f"case {rollout.case_id}: a rollout has no facts, from which alone it could be read")
        scored = stored_terms(rollout.facts, self.tables) if rollout.stop != "error" else {}
        rewards = {name: reward(paid) for name, paid in scored.items()}
        return Reading(reached(rollout.facts, case.answer), slips(rollout.facts), (), rewards)


def reached(facts: Mapping[str, Any], gold: str) -> str:
    """How far a rollout came."""
    if facts["answer"] is not None:
        return "success" if is_correct(facts["answer"], gold) else "answered"
    if not facts["blocks"]:
        return "nothing_run"
    return "code_ran" if any(block["ok"] for block in facts["blocks"]) else "code_failed"


def slips(facts: Mapping[str, Any]) -> dict[str, int]:
    """How often each slip occurs."""
    return {
        "no_answer": int(facts["answer"] is None),
        "empty_answer": int(facts["answer"] is not None and not facts["answer"].strip()),
        "failed_block": sum(not block["ok"] for block in facts["blocks"]),
        "cut_output": sum(block["cut"] for block in facts["blocks"]),
        "refused_call": facts["refused"],
    }
