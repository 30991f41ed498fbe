"""The parameters that a job must have by its study, as the rules look them up."""

from collections.abc import Mapping
from typing import Any

from tiebreak.paths import parse_run
from tiebreak.study import Study

DIGESTS = ("code", "toolchain")
"""Parameters that say which version ran; any may have."""

OF_RULE: Mapping[str, tuple[str, ...]] = {
    "replies": ("root_seed", "llm"),
    "blueprints": ("domain", "root_seed", "source"),
    "cases": ("domain",),
    "splits": ("domain", "root_seed", "splits", "leakage"),
    "leakage": ("domain", "leakage"),
    "traces": ("domain", "root_seed", "detours", "system_message", "toolbox", "most_calls"),
    "tokens": ("model",),
    "prompts": ("domain", "system_message", "rlvr_system_message", "toolbox"),
    "parity": ("domain", "system_message", "declared", "drifting", "toolbox"),
    "base": ("domain", "root_seed", "model", "toolbox", "threads"),
    "sft": ("domain", "root_seed", "model", "sft", "threads", "gpus"),
    "ties": ("domain", "arm", "max_tied"),
    "trial": ("domain", "root_seed", "arm", "model", "rlvr", "toolbox", "threads", "gpus"),
    "rlvr": ("domain", "root_seed", "arm", "model", "rlvr", "toolbox", "threads", "gpus"),
    "probe": ("domain", "root_seed", "shapes", "model", "evaluation", "probe", "toolbox", "threads", "gpus"),
    "shard": ("domain", "root_seed", "shapes", "model", "evaluation", "toolbox", "shards", "threads", "gpus"),
    "evaluation": ("domain", "root_seed", "shapes", "model", "evaluation", "toolbox", "threads", "gpus"),
    "budgets": ("domain", "root_seed", "shapes", "model", "evaluation", "budgets", "toolbox", "threads", "gpus"),
    "bands": (
        *("domain", "root_seed", "model", "samples", "temperature", "turn_tokens", "tool_rounds", "block", "engine"),
        *("toolbox", "threads", "gpus"),
    ),
    "arm": ("domain", "root_seed", "k", "statistics"),
    "analysis": ("domain", "root_seed", "k", "arms", "statistics"),
    "audits": ("domain", "root_seed", "shapes", "statistics"),
    "report": ("domain", "asked", "root_seed", "shapes", "epochs", "gpus_of"),
    "prime_rl": ("commit",),
    "vllm_server": (),
}
"""The parameters of each rule, but for `study` and the digests, which all have."""

STAGES = {"sft": "sft", "trial": "rlvr", "rlvr": "rlvr"}


def wanted_params(study: Study, rule: str, wildcards: Mapping[str, str]) -> dict[str, Any]:
    """The values of all parameters of a job but digests and `asked`, the file that the user named."""
    values = general(study) | per_run(study, wildcards) | per_stage(study, rule)
    names = [name for name in OF_RULE[rule] if name != "asked"]
    return {"study": study.name} | {name: values[name] for name in names}


def chosen_params(study: Study, wildcards: Mapping[str, str]) -> dict[str, Any]:
    """What of the parameters that are sections is no default: a version without a key ran with its default."""
    said = study.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    data, arms = said["data"], said["arms"]
    inner = {"llm": data["source"].get("llm"), "shapes": arms, "arm": arms.get(wildcards.get("arm"))}
    return said | data | inner


def general(study: Study) -> dict[str, Any]:
    """What is the same in every job that has it."""
    parts = study.parts()
    data, rlvr, sections = (
        parts["data"],
        parts["rlvr"],
        ("statistics", "toolbox", "model", "evaluation", "probe", "sft"),
    )
    return {name: parts[name] for name in (*sections, "rlvr", "domain", "root_seed")} | {
        "arms": list(study.arms),
        "budgets": list(getattr(study.evaluation, "call_budgets", ())),
        "commit": (rlvr.get("prime_rl") or {}).get("commit"),
        "declared": all("drifted_prompt" in arm.faults for arm in study.arms.values()),
        "detours": data.get("detours"),
        "drifting": study.drifting,
        "epochs": parts["sft"]["epochs"],
        "gpus_of": {"sft": study.gpus("sft"), "rlvr": study.gpus("rlvr"), "evaluation": study.gpus("evaluation")},
        "k": study.evaluation.k,
        "leakage": data.get("leakage"),
        "llm": data["source"].get("llm"),
        "max_tied": rlvr["trial"]["max_tied"],
        "most_calls": min(study.rlvr.tool_rounds, study.evaluation.tool_rounds),
        "rlvr_system_message": rlvr["system_message"],
        "shards": len(study.shards),
        "source": data["source"],
        "splits": data["splits"],
        "system_message": parts["model"]["system_message"],
    }


def per_run(study: Study, wildcards: Mapping[str, str]) -> dict[str, Any]:
    """The reward tables that a job is given: of its own arm, of all where it has none."""
    arms = study.parts()["arms"]
    arm = parse_run(wildcards["run"])[0] if "run" in wildcards else wildcards.get("arm")
    own = {arm: arms[arm]} if arm in arms else {}
    return {"arm": arms.get(arm), "shapes": own if "run" in wildcards else arms}


def per_stage(study: Study, rule: str) -> dict[str, Any]:
    """Threads and GPUs; and what the bands are measured with, which is sampled as training samples."""
    stage: Any = STAGES.get(rule, "evaluation")
    threads = study.model.tiny.threads if rule == "base" else getattr(study, stage).threads
    gpus = 0 if rule == "evaluation" and study.shards else study.gpus(stage)
    found = {"threads": threads, "gpus": gpus}
    if rule == "bands" and study.rlvr.pool is not None:
        parts = study.parts()
        found |= {name: parts["rlvr"][name] for name in ("temperature", "turn_tokens", "tool_rounds")}
        found |= {"samples": parts["rlvr"]["pool"]["samples"], "block": parts["evaluation"]["block"]}
        found |= {"engine": parts["evaluation"].get("engine")}
    return found
