"""Section `rlvr`: reinforcement learning with verifiable rewards, the same for every arm."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from tiebreak.sections.base import Section, absent
from tiebreak.sections.evaluation import EngineName
from tiebreak.sections.prime_rl import PrimeRl

Names = Annotated[tuple[str, ...], Field(strict=False, min_length=1)]
PROJECTIONS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
RANKS = (8, 16, 32, 64, 128, 256, 320, 512)
"""LoRA ranks that a vLLM server can be started with (VALID_VLLM_LORA_RANKS in prime-rl's configs/inference.py)."""


class Lora(Section):
    """The adapter, apart from its rank."""

    alpha: float | None = Field(None, gt=0, description="the adapter's scale; null is twice the rank", examples=[128.0])
    dropout: float = Field(0.0, ge=0, lt=1, description="the adapter's dropout", examples=[0.0])
    targets: Names = Field(PROJECTIONS, description="the layers that get one", examples=[list(PROJECTIONS)])


class Trial(Section):
    """The first steps of a training, which decide whether it goes on."""

    steps: int = Field(4, ge=1, description="steps of the trial", examples=[4])
    max_tied: float = Field(
        0.8, gt=0, le=2, description="the tied fraction from which an arm stops; over 1 stops none", examples=[0.8]
    )
    steps_under: float | None = Field(
        None,
        gt=0,
        le=1,
        description="the share of the trial's steps that must be under max_tied, each by itself; "
        "null holds all groups of the trial together against it",
        examples=[0.8],
    )


LEAST_WEIGHT = 0.01


class BandWeights(Section):
    """How often a prompt of each band is shown in a pass over the pool; over 1 oversamples, 0 leaves out."""

    never: float = Field(ge=0, description="weight of prompts of which no sample was graded", examples=[0.5])
    sometimes: float = Field(ge=0, description="weight of prompts of which some samples were graded", examples=[2.0])
    always: float = Field(ge=0, description="weight of prompts of which all samples were graded", examples=[0.25])

    @model_validator(mode="after")
    def something_is_shown(self) -> Self:
        """Not all weights are 0, and none is so small that a training would never show its prompts."""
        for name in ("never", "sometimes", "always"):
            if 0 < getattr(self, name) < LEAST_WEIGHT:
                raise ValueError(f"{name} is {getattr(self, name):g}; 0, or {LEAST_WEIGHT} and more is expected")
        if self.never == self.sometimes == self.always == 0:
            raise ValueError("never, sometimes and always are all 0, so no prompt would be shown; give one a weight")
        return self


class Pool(Section):
    """The pool's prompts by what the SFT model makes of them."""

    samples: int = Field(8, ge=2, description="samples of each prompt of the pool, to measure its band", examples=[8])
    bands: BandWeights = Field(
        description="the weight of each band", examples=["{never: 0.5, sometimes: 2.0, always: 0.25}"]
    )


class Rlvr(Section):
    """One training of one arm."""

    trainer: Literal["trl", "prime-rl"] = Field("trl", description="the backend", examples=["trl"])
    steps: int = Field(ge=1, description="optimizer steps of a training", examples=[14])
    group: int = Field(8, ge=2, description="rollouts of one prompt in a step", examples=[8])
    prompts: int = Field(16, ge=1, description="prompts in a step", examples=[16])
    anchor: float = Field(0.2, ge=0, description="weight of the pull towards the SFT model", examples=[0.2])
    learning_rate: float = Field(3e-4, gt=0, description="AdamW's learning rate", examples=[3.0e-4])
    temperature: float = Field(0.8, gt=0, le=2, description="sampling temperature of rollouts", examples=[0.8])
    tool_rounds: int = Field(8, ge=1, le=64, description="turns with calls that an episode may have", examples=[8])
    turn_tokens: int = Field(192, ge=1, description="new tokens that one turn may have", examples=[192])
    lora_rank: int = Field(0, ge=0, description="rank of the adapter; 0 trains all weights", examples=[0])
    lora: Lora | None = Field(
        None, exclude_if=absent, description="the adapter's other settings", examples=["{alpha: 128}"]
    )
    system_message: str | None = Field(
        None, description="the system message of RL's prompts; null is model.system_message", examples=["null"]
    )
    pool: Pool | None = Field(
        None,
        description="mix the pool's prompts by measured band; null shows every prompt once a pass",
        examples=["{samples: 8, bands: {never: 0.5, sometimes: 2.0, always: 0.25}}"],
    )
    trial: Trial = Field(default_factory=Trial, description="the trial", examples=["{steps: 4, max_tied: 0.8}"])
    threads: int = Field(1, ge=1, description="CPU threads; another number gives other bits", examples=[1])
    gpus: int = Field(4, ge=1, description="GPUs of a run, where model.device is cuda", examples=[4])
    engine: EngineName | None = Field(
        None,
        exclude_if=absent,
        description="what samples for trainer trl: hf, or vllm beside the trainer, which needs an adapter; null is "
        "vllm where model.device is cuda and hf elsewhere",
        examples=["vllm"],
    )
    engine_memory: float | None = Field(
        None,
        gt=0,
        lt=1,
        exclude_if=absent,
        description="the share of the GPU's memory that vllm takes beside the trainer; null is 0.35",
        examples=[0.35],
    )
    micro_batch: int | None = Field(
        None,
        ge=1,
        exclude_if=absent,
        description="rollouts in one backward pass of trainer trl; null is 32, as far as it divides the batch",
        examples=[1],
    )
    prime_rl: PrimeRl | None = Field(
        None, exclude_if=absent, description="for trainer prime-rl", examples=["{checkpoint_interval: 5}"]
    )

    @model_validator(mode="after")
    def trial_fits(self) -> Self:
        """A trial is the beginning of the training."""
        if self.trial.steps > self.steps:
            raise ValueError(f"trial.steps is {self.trial.steps}, steps is {self.steps}; a trial cannot be longer")
        return self

    @model_validator(mode="after")
    def engine_serves(self) -> Self:
        """The adapter can be served."""
        if self.lora_rank > RANKS[-1]:
            raise ValueError(f"lora_rank is {self.lora_rank}; the engine serves ranks up to {RANKS[-1]}, lower it")
        return self

    @model_validator(mode="after")
    def prime_rl_fits(self) -> Self:
        """Training with prime-rl has its part, an adapter, and as many GPUs as its processes take."""
        if self.trainer != "prime-rl":
            return self
        if self.prime_rl is None:
            raise ValueError("trainer is prime-rl and there is no prime_rl; write prime_rl: {} for its defaults")
        if self.lora_rank not in RANKS:
            ranks = ", ".join(map(str, RANKS))
            raise ValueError(f"trainer is prime-rl and lora_rank {self.lora_rank}; its server takes one of {ranks}")
        if self.gpus != self.prime_rl.gpus:
            raise ValueError(
                f"gpus is {self.gpus}; prime_rl asks for {self.prime_rl.gpus} (rollout_gpus, train_gpus and "
                f"teacher_gpus together): make them agree"
            )
        return self

    @property
    def lora_settings(self) -> Lora:
        """The adapter's other settings."""
        return self.lora or Lora()

    @property
    def lora_alpha(self) -> float:
        """The adapter's scale."""
        return self.lora_settings.alpha or 2.0 * self.lora_rank


class RlvrPlan(Rlvr):
    """Trainings of every arm. The count is no part of a training: raising it trains only the new seeds."""

    training_seeds: int = Field(2, ge=1, description="trainings of each arm, seeds 0, 1, …", examples=[2])
