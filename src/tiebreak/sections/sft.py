"""Section `sft`: supervised fine-tuning on traces."""

from typing import Literal

from pydantic import Field

from tiebreak.sections.base import Section


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
