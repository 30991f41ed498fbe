"""Part `rlvr.prime_rl`: what training with prime-rl on several GPUs needs beside. Defaults are the glyph study's."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from tiebreak.sections.base import Section

Commit = Literal["97872d3e05993028e7507423f55938fb2013f598"]
COMMIT: Commit = "97872d3e05993028e7507423f55938fb2013f598"
Tokens = Annotated[tuple[int, ...], Field(strict=False, min_length=1)]
Precision = Literal["bfloat16", "float16", "float32"]


class PrimeRl(Section):
    """One training with prime-rl: student inference, trainer and frozen teacher, each on GPUs of its own."""

    commit: Commit = Field(
        COMMIT,
        description="the commit of prime-rl: its keys change from commit to commit, and we write those of this one",
        examples=[COMMIT],
    )
    environment: str = Field("glyph", min_length=1, description="the installed environment's id", examples=["glyph"])
    rollout_gpus: int = Field(1, ge=1, description="GPUs that sample from the student", examples=[1])
    train_gpus: int = Field(2, ge=1, description="GPUs that train", examples=[2])
    teacher_gpus: int = Field(1, ge=1, description="GPUs of the frozen SFT model", examples=[1])
    port: int = Field(
        8000, ge=1024, le=65534, description="the student's port; the teacher's is the next", examples=[8000]
    )
    sequence: int = Field(16384, ge=64, description="tokens of a rollout at most", examples=[16384])
    checkpoint_interval: int = Field(5, ge=1, description="steps between checkpoints", examples=[5])
    tool_seconds: int = Field(30, ge=1, description="seconds that a call of a tool may take", examples=[30])
    rollout_dtype: Precision = Field("float16", description="what rollouts are sampled in", examples=["float16"])
    training_dtype: Literal["bfloat16", "float32"] = Field(
        "bfloat16", description="what the trainer keeps weights and reduces gradients in", examples=["bfloat16"]
    )
    gpu_memory: float = Field(0.7, gt=0, le=1, description="the share of a GPU's memory for inference", examples=[0.7])
    weight_decay: float = Field(0.01, ge=0, description="AdamW's weight decay", examples=[0.01])
    max_norm: float = Field(1.0, gt=0, description="the gradient's norm at most", examples=[1.0])
    advantage_tau: float = Field(1.0, ge=0, description="weight of the advantage in the loss", examples=[1.0])
    kl_tau: float = Field(1e-3, ge=0, description="weight of the drift from the sampling policy", examples=[1.0e-3])
    mask: float = Field(0.2, ge=0, description="drift of a token's probability that masks it", examples=[0.2])
    stop_tokens: Tokens = Field(
        (151644, 151645),
        description="ids of <|im_start|> and <|im_end|>, which end a turn",
        examples=[[151644, 151645]],
    )
    tokenizer_size: int = Field(151669, ge=1, description="ids that the tokenizer knows", examples=[151669])
    vocabulary: int = Field(
        151936, ge=1, description="rows of the model's output; the rest is never sampled", examples=[151936]
    )

    @property
    def gpus(self) -> int:
        """GPUs of a training, all parts together."""
        return self.rollout_gpus + self.train_gpus + self.teacher_gpus

    @property
    def teacher_port(self) -> int:
        """The port of the teacher's server."""
        return self.port + 1

    @model_validator(mode="after")
    def ids_fit(self) -> Self:
        """Stop tokens are the tokenizer's, and the tokenizer's are the model's."""
        if self.tokenizer_size > self.vocabulary:
            raise ValueError(
                f"tokenizer_size is {self.tokenizer_size}, vocabulary {self.vocabulary}; it cannot be larger"
            )
        if beyond := [token for token in self.stop_tokens if not 0 <= token < self.tokenizer_size]:
            raise ValueError(
                f"stop_tokens holds {beyond[0]}, tokenizer_size is {self.tokenizer_size}; name ids below it"
            )
        return self
