"""Section `sft`: supervised fine-tuning on traces."""

from typing import Literal, Self

from pydantic import Field, model_validator

from tiebreak.sections.base import Section, absent


class Large(Section):
    """What the fine-tune of all weights of a large model needs beside."""

    micro_batch: int = Field(1, ge=1, description="traces that go through the model at once", examples=[1])
    gradient_checkpointing: bool = Field(
        True, description="compute activations again instead of keeping them", examples=[True]
    )
    max_length: int | None = Field(
        None,
        ge=64,
        description="tokens of a trace at most, longer ones stop the study; null is model.max_length",
        examples=[12000],
    )
    schedule: Literal["cosine", "warmup_stable_decay"] = Field(
        "cosine",
        description="how the learning rate goes after the warm-up",
        examples=["cosine"],
    )
    warmup: float = Field(0.03, ge=0, lt=1, description="the share of steps that warm up", examples=[0.03])


class Sft(Section):
    """One SFT, from which all arms start."""

    epochs: int = Field(1, ge=1, description="passes over the traces", examples=[1])
    optimizer: Literal["adamw", "muon"] = Field(
        "adamw", description="AdamW for all weights, or Muon for the matrices", examples=["adamw"]
    )
    learning_rate: float = Field(3e-3, gt=0, description="AdamW's peak learning rate", examples=[3.0e-3])
    matrix_learning_rate: float = Field(0.02, gt=0, description="Muon's peak learning rate", examples=[0.02])
    batch: int = Field(16, ge=1, description="traces in an optimizer step", examples=[16])
    context_weight: float = Field(
        0.2, ge=0, le=1, description="weight of the loss on tokens the model does not write", examples=[0.2]
    )
    threads: int = Field(2, ge=1, description="CPU threads; another number gives other bits", examples=[2])
    gpus: int = Field(1, ge=1, description="GPUs of a run, where model.device is cuda", examples=[1])
    large: Large | None = Field(
        None, exclude_if=absent, description="for a model of billions of weights", examples=["{micro_batch: 1}"]
    )

    @model_validator(mode="after")
    def whole_steps(self) -> Self:
        """A step is a whole number of micro-batches."""
        if self.large is not None and self.batch % self.large.micro_batch:
            raise ValueError(f"batch is {self.batch}, large.micro_batch {self.large.micro_batch}; it must divide batch")
        return self
