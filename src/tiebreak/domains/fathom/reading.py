"""Stored rollouts of the fathom domain, read for audits (`domains.reading.Reader`)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tiebreak.chat import Message
from tiebreak.domains.fathom.answers import extract, is_correct
from tiebreak.domains.fathom.rescore import stored_terms
from tiebreak.domains.fathom.rewards import RewardTable, reward
from tiebreak.domains.fathom.tasks import Task
from tiebreak.domains.reading import Reading, StoredRollout
from tiebreak.errors import DataError

PHASES = ("nothing_run", "code_failed", "code_ran", "answered", "success")
FAILED = ("Traceback (most recent call last):", "[the REPL is gone, its names with it:")
CUT = "[cut at "
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
        """Read one rollout; without stored facts there are no rewards, and code is read from what the REPL replied."""
        case = self.cases.get(rollout.case_id)
        if case is None:
            raise DataError(f"case {rollout.case_id} is not among the cases; give the cases.jsonl of the same study")
        told = stated(rollout.turns, rollout.stop)
        facts = told if rollout.facts is None else rollout.facts
        scored = {} if rollout.facts is None or rollout.stop == "error" else stored_terms(facts, self.tables)
        rewards = {name: reward(paid) for name, paid in scored.items()}
        outcomes = told["answer"] is not None, is_correct(told["answer"], case.answer)
        return Reading(reached(facts, case.answer), slips(facts), (), rewards, *outcomes)


def stated(turns: Sequence[Message], stop: str) -> dict[str, Any]:
    """What the turns alone tell of the facts. A program can print what a failure looks like; calls that the budget
    refused do not show. A last turn that a limit cut was never taken, so what stands in its tags is no answer.
    """
    written = [turn["content"] for turn in turns if turn["role"] == "assistant"]
    replies = [turn["content"] for turn in turns if turn["role"] == "tool"]
    return {
        "answer": extract(written[-1]) if written and stop != "tokens" else None,
        "blocks": [{"ok": not any(sign in text for sign in FAILED), "cut": CUT in text} for text in replies],
        "refused": 0,
    }


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
