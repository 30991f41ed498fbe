"""A smoke test's stages with a model: load it, train it a little, sample groups, and take a step of RL."""

from math import isfinite
from pathlib import Path
from typing import Any

from tiebreak import gates
from tiebreak.domains.base import Domain
from tiebreak.job import read_lines
from tiebreak.paths import run_name
from tiebreak.preflight import plural
from tiebreak.prompts import drift
from tiebreak.sampling import Plan, prompts_of, sample
from tiebreak.sections.rlvr import Rlvr
from tiebreak.smoke.part import NotHereError, Slice, StopError, need, need_no_server
from tiebreak.standing import counted, dead_words

PROMPTS = 2  # in the step of RL
CORPUS = 24  # documents for the tokenizer of a base that is not made yet


def model(part: Slice) -> str:
    """Find the base (or make the tokenizer and fresh weights of a tiny one) and load it."""
    study, base = part.study, Path(part.study.model.base)
    if study.model.device == "cuda" and not part.gpu:
        raise NotHereError("the study's model wants a GPU, and there is none")
    made = next((path for path in (part.paths.base, base) if part.at_hand(path)), None)
    words = f"the study's base {made}"
    if made is None and study.model.is_hub:
        raise NotHereError(
            f"{base} is not on this machine; ./dev snakemake --cores all base, with the study's --config, loads it"
        )
    if made is None:
        made, words = fresh(part), "a base with fresh weights, for the study's own is not made yet"
    part.base = made
    return f"{words}: {parameters(made, study.model.precision):,} parameters"


def fresh(part: Slice) -> Path:
    """A tiny base as rule `base` makes it, with a small corpus and without its warm-up."""
    from tiebreak.training.base import make_base

    tiny = part.study.model.tiny.model_copy(update={"corpus": CORPUS, "warmup_tokens": 0})
    out, seed = part.folder / "base", part.study.root_seed
    corpus = part.domain().corpus(seed, CORPUS)
    make_base(tiny, corpus, root_seed=seed, out=out, steps=part.folder / "base.jsonl", work=part.folder / "warmup")
    return out


def parameters(folder: Path, precision: str) -> int:
    """The parameters of a model, which is loaded for it as every stage loads it."""
    from transformers import AutoModelForCausalLM

    return int(AutoModelForCausalLM.from_pretrained(folder, dtype=precision).num_parameters())


def sft(part: Slice) -> str:
    """One epoch over the handful of traces."""
    from tiebreak.training.sft import train_sft

    need(part.members, "cases")
    base, model = need(part.base, "model"), part.study.model
    out, steps = part.folder / "sft", part.folder / "sft.jsonl"
    numbers = train_sft(
        part.study.sft.model_copy(update={"epochs": 1}),
        traces=part.folder / "sft.parquet",
        base=base,
        max_length=model.max_length,
        root_seed=part.study.root_seed,
        out=out,
        steps=steps,
        work=part.folder / "sft-work",
        dtype=model.precision,
    )
    own = part.paths.model("sft")
    part.policy = own if part.at_hand(own) else out
    losses = [row["loss"] for row in read_lines(steps) if "loss" in row]  # the last row sums up
    if not all(isfinite(loss) for loss in losses):
        raise StopError(f"the loss is no number: {losses}")
    longest = f"{numbers['tokens_max']} of {numbers['max_length']} tokens at most"
    return f"{plural(len(losses), 'step')} on {numbers['traces']} traces ({longest}), loss {losses[-1]:.2f}"


def ties(part: Slice) -> str:
    """Every arm's dead components, and its ties over a few groups that the policy samples."""
    from tiebreak.engines.base import Sampling
    from tiebreak.engines.hf import HfEngine

    need(part.members, "cases")
    study, policy, domain = part.study, need(part.policy, "model"), part.domain()
    need_no_server(part, "evaluation", part.paths.ties(next(iter(study.arms))))
    prompts = prompts_of(part.folder / "pool.parquet", domain.load_cases(part.folder / "cases.jsonl"))
    section = study.evaluation
    plan = Plan(study.root_seed, ("smoke",), "sft", None, 0, study.rlvr.group, section.tool_rounds, section.block)
    sampling = Sampling(section.temperature, section.turn_tokens, study.model.max_length)
    rollouts, work, timings = (part.folder / name for name in ("rollouts.parquet", "probe", "timings.parquet"))
    engine = HfEngine(*loaded(policy, study.model.precision), sampling)
    sample(engine, domain, prompts, plan, work=work, rollouts=rollouts, timings=timings)
    trained = policy == part.paths.model("sft")
    found = [arm_ties(domain, rollouts, arm, study.rlvr.trial.max_tied, trained=trained) for arm in study.arms]
    return "; ".join(found) + ("" if trained else " (the policy is hardly trained, so its ties say nothing yet)")


def loaded(folder: Path, precision: str) -> tuple[Any, Any]:
    """A model and its tokenizer."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    return AutoModelForCausalLM.from_pretrained(folder, dtype=precision), AutoTokenizer.from_pretrained(folder)


def arm_ties(domain: Domain, rollouts: Path, arm: str, max_tied: float, *, trained: bool) -> str:
    """The ties gate of an arm over a few groups; they stop it only where even the interval's lower end is too high."""
    terms = domain.rescored_groups(rollouts, arm)
    rewards = [[sum(rollout.values()) for rollout in group] for group in terms]
    found = gates.ties(
        arm,
        rewards,
        max_tied=max_tied,
        terms=terms,
        declared=domain.declared_terms(arm),
        synthetic=domain.synthetic_group(arm),
    ).measure
    dead = found["dead_on_synthetic_group"]
    words = f"{arm}: {counted(found['tied'])} groups tie" + (f", {dead_words(dead)}" if dead else "")
    if trained and found["tied"]["low"] >= max_tied:
        raise StopError(f"{words}; max_tied is {max_tied:g}: {gates.MEND}")
    return words


def rlvr(part: Slice) -> str:
    """One step of RL of the first arm."""
    from tiebreak.training import grpo
    from tiebreak.training.run import Run

    need(part.members, "cases")
    study, policy, domain = part.study, need(part.policy, "model"), part.domain()
    if study.rlvr.trainer != "trl":
        raise NotHereError(f"{study.rlvr.trainer} trains in processes of its own, on {study.gpus('rlvr')} GPUs")
    arm = next(iter(study.arms))
    need_no_server(part, "rlvr", part.paths.decision(run_name(arm, 0)))
    prompts = prompts_of(part.folder / "pool.parquet", domain.load_cases(part.folder / "cases.jsonl"))
    if arm in study.drifting:
        prompts = drift(domain, prompts)
    section = Rlvr.model_validate(part.parts["rlvr"]).model_copy(update={"steps": 1, "prompts": PROMPTS})
    work = part.folder / "rlvr"
    run, length = Run(study.root_seed, arm, 0), study.model.max_length
    grpo.train(run, section, domain, prompts, model=policy, max_length=length, until=1, work=work)
    step = grpo.read_steps(work / "steps.jsonl")[-1]
    if step["loss"] is None:
        return f"{arm}: 1 step of {plural(step['groups'], 'group')}, all of them tied, so it moved nothing"
    if not isfinite(step["loss"]):
        raise StopError(f"{arm}: the loss of the first step is {step['loss']}")
    return f"{arm}: 1 step of {plural(step['groups'], 'group')}, {step['tied']} tied, loss {step['loss']:.4f}"
