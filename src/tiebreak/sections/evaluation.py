"""Sections `evaluation` and `probe`: sampling from finished models."""

from typing import Literal

from pydantic import Field

from tiebreak.sections.base import Section, absent

EngineName = Literal["hf", "vllm"]


def engine_of(named: EngineName | None, device: str) -> EngineName:
    """The engine that samples: the one that is named, or the one of the device."""
    return named or ("vllm" if device == "cuda" else "hf")


class Evaluation(Section):
    """One evaluation of one run on the held-out cases."""

    k: int = Field(ge=1, description="rollouts of each case in a repetition", examples=[8])
    temperature: float = Field(0.8, gt=0, le=2, description="sampling temperature", examples=[0.8])
    tool_rounds: int = Field(8, ge=1, le=64, description="turns with calls that an episode may have", examples=[8])
    turn_tokens: int = Field(192, ge=1, description="new tokens that one turn may have", examples=[192])
    block: int = Field(20, ge=1, description="cases in a batch: the unit of resuming", examples=[20])
    engine: EngineName | None = Field(
        None,
        exclude_if=absent,
        description="what samples: hf (transformers, in step, on the CPU) or vllm; null is vllm where model.device is "
        "cuda and hf elsewhere",
        examples=["vllm"],
    )
    threads: int = Field(1, ge=1, description="CPU threads; another number gives other bits", examples=[1])
    gpus: int = Field(1, ge=1, description="GPUs of a run, where model.device is cuda", examples=[1])


class EvaluationPlan(Evaluation):
    """Evaluations of every run. The count is no part of one: raising it makes only the new repetitions."""

    repetitions: int = Field(3, ge=1, description="evaluations of each run, each with its own seeds", examples=[3])
    shards: int = Field(
        1, ge=1, description="jobs that share the cases of one evaluation, so that it spreads over GPUs", examples=[4]
    )


class Probe(Section):
    """The learning probe: the same pool prompts and seeds before and after each training."""

    prompts: int = Field(64, ge=1, description="pool prompts in the probe, spread over the pool", examples=[64])
    samples: int = Field(8, ge=2, description="rollouts of each prompt", examples=[8])
