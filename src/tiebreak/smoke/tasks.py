"""A smoke test's stages before any model: a handful of cases, and the bytes of their prompts."""

from collections.abc import Mapping
from typing import Any

from tiebreak import gates, tables
from tiebreak.job_domain import drawn
from tiebreak.paths import BASE_ARM
from tiebreak.prompts import prompt_rows, two_sides
from tiebreak.seeds import stream
from tiebreak.smoke.part import NotHereError, Slice, StopError, need
from tiebreak.standing import parity_text

HANDFUL = 16  # blueprints; half of the cases are for SFT, a quarter each for RL and evaluation


def few(source: Mapping[str, Any]) -> dict[str, Any]:
    """A source that gives a handful; a language model is not asked, for that costs money."""
    left = {name: value for name, value in source.items() if name != "llm" and value is not None}
    if not left:
        raise NotHereError("all specs come from a language model, and a smoke test asks none")
    if "generate" in left:
        left["generate"] = left["generate"] | {"cases": HANDFUL}
    return left


def data(part: Slice) -> str:
    """Draw a handful of blueprints and materialize them."""
    found = drawn(part.study.domain, few(part.parts["data"]["source"]), part.study.root_seed)
    blueprints = found.blueprints[:HANDFUL]
    domain = part.domain()
    cases, rejects = domain.materialize(blueprints, lambda _: None)
    if len(cases) < 4:
        first = f"; {rejects[0]['case_id']}: {rejects[0]['errors'][0]}" if rejects else ""
        raise StopError(f"{len(cases)} of {len(blueprints)} blueprints materialize, 4 are needed{first}")
    half, rest = len(cases) // 2, (3 * len(cases)) // 4
    part.members = {"sft": cases[:half], "pool": cases[half:rest], "holdout": cases[rest:]}
    domain.dump_cases(part.folder / "cases.jsonl", cases)
    return f"{len(cases)} of {len(blueprints)} blueprints materialize"


def parity(part: Slice) -> str:
    """Make traces and prompts, and hold their bytes against each other."""
    need(part.members, "cases")
    study, domain = part.study, part.domain()
    most = min(study.rlvr.tool_rounds, study.evaluation.tool_rounds)
    shown = domain.traces(
        part.members["sft"],
        lambda case: stream(study.root_seed, "traces", case.case_id),
        study.data.detours,
        system_message=study.model.system_message,
        most_calls=most,
    )
    keys = ("case_id", "family", "template", "difficulty")
    rows = [
        {key: getattr(case, key) for key in keys} | {"turns": turns}
        for case, turns in zip(part.members["sft"], shown, strict=True)
    ]
    tables.write_table(part.folder / "sft.parquet", rows, tables.SFT)
    own = study.rlvr.system_message
    messages = {"pool": study.model.system_message if own is None else own, "holdout": study.model.system_message}
    for name, message in messages.items():
        prompts = prompt_rows(domain, part.members[name], message)
        tables.write_table(part.folder / f"{name}.parquet", prompts, tables.PROMPTS)
    files = {name: part.folder / f"{name}.parquet" for name in ("sft", "pool", "holdout")}
    sides = two_sides(domain, part.members, files, study.model.system_message, study.drifting)
    declared = sides.declared | ({"pool": "drifted_prompt"} if len(study.drifting) == len(study.arms) else {})
    found = gates.enforce(gates.parity(sides.expected, sides.found, declared=declared))
    return " ".join([parity_text(found, BASE_ARM), *(f"{arm}: {parity_text(found, arm)}" for arm in study.drifting)])
