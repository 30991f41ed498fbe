"""A study in small before money is spent: each stage once, on a handful of cases, by the functions that the rules call.

It says what stops the study (a no-go), what was fine, and what could not be tried on this machine. What it makes lies
in a folder of the caller's; `results/` is read and never written.
"""

import io
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stderr
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any, Literal

from tiebreak import gates, tables
from tiebreak.domains.base import Domain
from tiebreak.errors import TiebreakError
from tiebreak.job import read_lines, set_threads
from tiebreak.job_domain import drawn, opened
from tiebreak.paths import BASE_ARM, Paths, run_name
from tiebreak.preflight import plural
from tiebreak.prompts import drift, prompt_rows, two_sides
from tiebreak.sampling import Plan, prompts_of, sample
from tiebreak.sections.rlvr import Rlvr
from tiebreak.seeds import stream
from tiebreak.standing import counted, dead_words, parity_text
from tiebreak.study import Study

HANDFUL = 16  # blueprints; half of the cases are for SFT, a quarter each for RL and evaluation
PROMPTS = 2  # in the step of RL
CORPUS = 24  # documents for the tokenizer of a base that is not made yet
State = Literal["ok", "no-go", "not tried"]


@dataclass(frozen=True)
class Line:
    """One thing tried, with what came of it."""

    subject: str
    state: State
    found: str
    seconds: float = 0.0


class NotHereError(Exception):
    """A stage that cannot be tried on this machine, or without one before it."""


class StopError(Exception):
    """A stage whose outcome stops the study."""


@dataclass
class Slice:
    """The small study in progress. gpu: whether the study's device is here; models are folders."""

    study: Study
    paths: Paths
    folder: Path
    gpu: bool
    members: dict[str, list[Any]] = field(default_factory=dict)
    base: Path | None = None
    policy: Path | None = None

    @property
    def parts(self) -> dict[str, Any]:
        """The study as plain values."""
        return self.study.parts()

    def domain(self) -> Domain:
        """The study's domain with all reward tables; its verdicts are kept apart from the study's."""
        parts, cache = self.parts, self.folder / "verdicts"
        return opened(self.study.domain, parts["toolbox"], parts["arms"], workers=2, cache=cache)

    def at_hand(self, path: Path) -> bool:
        """Whether a folder holds a model."""
        return (path / "config.json").is_file()


def smoke(study: Study, paths: Paths, folder: Path, *, gpu: bool) -> Iterator[Line]:
    """Try the stages in order, a line each as soon as it is done. gpu: whether the study's device is here."""
    set_threads(study.rlvr.threads)
    part = Slice(study, paths, folder, gpu)
    for stage in (data, parity, model, sft, ties, rlvr):
        yield tried(stage, part)


def tried(stage: Callable[[Slice], str], part: Slice) -> Line:
    """The line of one stage. Whatever goes wrong in it is a no-go: it would go wrong in the study as well."""
    started = time.perf_counter()
    state: State = "no-go"
    try:
        with redirect_stderr(io.StringIO()):
            found, state = stage(part), "ok"
    except NotHereError as error:
        found, state = str(error), "not tried"
    except (StopError, TiebreakError) as error:
        found = str(error)
    except Exception as error:  # any other, too: a person wants the verdict, and the other stages
        found = f"{type(error).__name__}: {error}"
    return Line(stage.__name__, state, found, time.perf_counter() - started)


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


def model(part: Slice) -> str:
    """Find the base (or make the tokenizer and fresh weights of a tiny one) and load it."""
    study, base = part.study, Path(part.study.model.base)
    if study.model.device == "cuda" and not part.gpu:
        raise NotHereError("the study's model wants a GPU, and there is none")
    made = next((path for path in (part.paths.base, base) if part.at_hand(path)), None)
    words = f"the study's base {made}"
    if made is None and study.model.is_hub:
        raise NotHereError(f"{base} is not on this machine; `snakemake base` downloads it")
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
    from tiebreak.training.groups import Run

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


def need_no_server(part: Slice, stage: Literal["rlvr", "evaluation"], target: Path) -> None:
    """Leave out a stage that samples on a server: transformers on the CPU would be another engine, and take hours."""
    if part.study.engine(stage) == "vllm":
        raise NotHereError(f"vLLM samples here, and a smoke test starts no server; to try it, make {target}")


def need(value: Any, what: str) -> Any:
    """What an earlier stage left."""
    if not value:
        raise NotHereError(f"there are no {what}" if what == "cases" else f"there is no {what}")
    return value
