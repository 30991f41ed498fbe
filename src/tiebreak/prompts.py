"""The prompts of a split as a table: the bytes that a stage shows, made by the domain's one prompt function."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tiebreak import chat, tables
from tiebreak.domains.base import Domain


def prompt_rows(
    domain: Domain, cases: Iterable[Any], system_message: str | None, *, drifted: bool = False
) -> list[dict[str, str]]:
    """A row of `tables.PROMPTS` for each case; drifted: as an arm with the fault `drifted_prompt` shows it."""
    return [
        {
            "case_id": case.case_id,
            "family": case.family,
            "template": case.template,
            "difficulty": case.difficulty,
            "prompt": chat.prompt(domain.prompt(case, system_message, drifted=drifted)),
        }
        for case in cases
    ]


def drift(domain: Domain, prompts: Iterable[tuple[Any, list[chat.Message]]]) -> list[tuple[Any, list[chat.Message]]]:
    """Cases with their opening messages, as an arm with the fault `drifted_prompt` shows them."""
    return [(case, domain.prompt(case, system_of(messages), drifted=True)) for case, messages in prompts]


def system_of(messages: Sequence[chat.Message]) -> str | None:
    """The system message of a conversation, if it has one."""
    return next((message["content"] for message in messages if message["role"] == "system"), None)


def by_case(rows: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """The prompt of each case."""
    return {row["case_id"]: row["prompt"] for row in rows}


def shown_prompts(path: Path) -> dict[str, str]:
    """The prompt of each case in a stored table of prompts."""
    return by_case(tables.read_table(path, ["case_id", "prompt"]).to_pylist())


def trace_prompts(path: Path) -> dict[str, str]:
    """What stands before the model's first turn in each stored trace, rendered: the prompt that SFT shows."""
    rows = tables.read_table(path, ["case_id", "turns"]).to_pylist()
    return {row["case_id"]: chat.prompt(opening(row["turns"])) for row in rows}


def opening(turns: Sequence[Mapping[str, Any]]) -> list[chat.Message]:
    """The messages before the first assistant turn."""
    roles = [turn["role"] for turn in turns]
    end = roles.index("assistant") if "assistant" in roles else len(roles)
    return [{"role": turn["role"], "content": turn["content"]} for turn in turns[:end]]


@dataclass
class Sides:
    """What the parity gate compares: the prompts by stage and case, and stages that differ on purpose."""

    expected: dict[str, dict[str, str]]
    found: dict[str, dict[str, str]]
    declared: dict[str, str] = field(default_factory=dict)


def two_sides(
    domain: Domain,
    members: Mapping[str, Sequence[Any]],
    files: Mapping[str, Path],
    system_message: str | None,
    drifting: Iterable[str],
) -> Sides:
    """The prompts of the splits sft, pool and holdout by the one function, and as their tables hold them.

    members, files: cases and table of each split. drifting: arms with the fault `drifted_prompt`; each is a stage.
    """
    expected = {split: by_case(prompt_rows(domain, cases, system_message)) for split, cases in members.items()}
    readers = {"sft": trace_prompts, "pool": shown_prompts, "holdout": shown_prompts}
    sides = Sides(expected, {split: read(files[split]) for split, read in readers.items()})
    for arm in drifting:
        stage = f"pool of {arm}"
        sides.expected[stage], sides.declared[stage] = expected["pool"], "drifted_prompt"
        sides.found[stage] = by_case(prompt_rows(domain, members["pool"], system_message, drifted=True))
    return sides
