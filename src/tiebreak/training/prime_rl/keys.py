"""The keys of prime-rl's `rl` configuration that we write, as typed models: those of one commit, and no others.

Source: packages/prime-rl-configs/src/prime_rl/configs/{rl,orchestrator,trainer,inference,shared}.py at the commit that
`sections.prime_rl.COMMIT` names. A value that prime-rl would fill in by itself stands here all the same where the study
depends on it, so that the file says what runs. `tests/prime_rl` holds the files against prime-rl's own classes.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Precision = Literal["bfloat16", "float16", "float32"]


class Table(BaseModel):
    """A TOML table: every key is known, nothing is converted."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class Deployment(Table):
    """GPUs of each part, on one machine."""

    type: Literal["single_node"] = "single_node"
    gpus_per_node: int
    num_infer_gpus: int
    num_train_gpus: int
    num_teacher_gpus: int


class Checkpoints(Table):
    """resume_step: the checkpoint that all parts have; absent, the training starts from scratch."""

    interval: int
    keep_last: int = 2
    resume_step: int | None = None


class Tokenizer(Table):
    """The folder whose tokenizer and chat template everything uses."""

    name: str


class Kind(Table):
    """A table that says no more than which kind it is."""

    type: str


class Log(Table):
    """The step lines that `logs` reads have level info and above."""

    level: Literal["info"] = "info"


class Name(Table):
    """A table with a name alone."""

    name: str


class TrainerLora(Table):
    """The adapter that is trained."""

    rank: int
    alpha: float
    dropout: float
    target_modules: list[str]


class Recompute(Table):
    """Which activations are computed again instead of kept."""

    mode: Literal["full"] = "full"
    freq: int = 1


class TrainerModel(Table):
    """The model of the trainer."""

    name: str
    seq_len: int
    attn: Literal["sdpa"] = "sdpa"
    optimization_dtype: Precision
    reduce_dtype: Precision
    fused_lm_head_token_chunk_size: int = 8192
    ac: Recompute = Recompute()
    lora: TrainerLora


class Loss(Table):
    """Advantage, pull towards the teacher, pull towards the policy that sampled, and the masks of drifted tokens."""

    type: Literal["default"] = "default"
    adv_tau: float
    teacher_tau: float
    kl_tau: float
    dppo_mask_low: float
    dppo_mask_high: float


class Optimizer(Table):
    """AdamW at a constant rate."""

    type: Literal["adamw"] = "adamw"
    lr: float
    weight_decay: float
    max_norm: float
    betas1: float = 0.9
    betas2: float = 0.999


class TrainerCheckpoints(Table):
    """No copy of all weights: with LoRA prime-rl writes the base, not merged, to `weights/step_N` (8 GB a copy)."""

    skip_gather_master_weights: bool = True


class Trainer(Table):
    """The process that trains."""

    model: TrainerModel
    loss: Loss
    optim: Optimizer
    scheduler: Kind = Kind(type="constant")
    ckpt: TrainerCheckpoints = TrainerCheckpoints()


class StudentLora(Table):
    """The adapter's name at the rollout server, and its size again."""

    name: str
    rank: int
    alpha: float


class StudentModel(Table):
    """The model that rollouts are sampled from."""

    name: str
    lora: StudentLora


class Client(Table):
    """Where a server is asked."""

    base_url: list[str]


class Student(Table):
    """The policy."""

    model: StudentModel
    client: Client


class Teacher(Table):
    """The frozen SFT model, asked for the probabilities of the student's tokens."""

    model: Name
    client: Client


class Gibberish(Table):
    """Drops rollouts with a rare token at a high entropy."""

    type: Literal["gibberish"] = "gibberish"
    enforce: Literal[True] = True
    token_id_threshold: int = 100_000
    logprob_offset: float = 2.0


class Repetition(Table):
    """Drops rollouts that repeat themselves for a long stretch."""

    type: Literal["repetition"] = "repetition"
    enforce: Literal[True] = True
    window: int = 3000
    prob_threshold: float = 0.99


class ZeroAdvantage(Table):
    """Drops rollouts of tied groups."""

    type: Literal["zero_advantage"] = "zero_advantage"
    enforce: Literal[True] = True


Filter = Annotated[Gibberish | Repetition | ZeroAdvantage, Field(discriminator="type")]


class ExtraBody(Table):
    """What vLLM takes beside OpenAI's keys."""

    stop: list[str]
    stop_token_ids: list[int]
    logit_bias: dict[str, float]


class Sampling(Table):
    """How rollouts are sampled. There is no `seed` on purpose: one seed for all would make a group's rollouts equal."""

    temperature: float
    max_completion_tokens: int
    extra_body: ExtraBody


class Environment(Table):
    """The verifiers environment, and what its `load_environment` is called with."""

    id: str
    num_workers: int = 1
    args: dict[str, Any]


class TrainingEnvironments(Table):
    """The environments that are trained on: ours."""

    sampling: Sampling
    env: list[Environment]


class Seed(Table):
    """A seed alone."""

    seed: int


class Orchestrator(Table):
    """The process that collects rollouts. `default` is the renderer that applies the tokenizer's own chat template."""

    training_mode: Literal["opd"] = "opd"
    batch_size: int
    max_inflight_rollouts: int
    rollouts_per_example: int
    seq_len: int
    seed: int
    use_renderer: Literal[True] = True
    renderer: Name = Name(name="default")
    buffer: Seed
    student: Student
    teacher: Teacher
    filters: list[Filter] = [Gibberish(), Repetition(), ZeroAdvantage()]
    train: TrainingEnvironments


class Port(Table):
    """Where a server listens."""

    port: int


class ServedModel(Table):
    """The model of a server."""

    name: str
    dtype: Precision
    max_model_len: int
    enforce_eager: bool = True


class Inference(Table):
    """A vLLM server."""

    gpu_memory_utilization: float
    seed: int
    enable_lora: bool
    max_lora_rank: int | None = None
    server: Port
    model: ServedModel


class Rl(Table):
    """The whole file, for `rl @ FILE`."""

    output_dir: str
    max_steps: int
    max_async_level: int = 1
    log: Log = Log()
    deployment: Deployment
    ckpt: Checkpoints
    tokenizer: Tokenizer
    weight_broadcast: Kind = Kind(type="filesystem")
    trainer: Trainer
    orchestrator: Orchestrator
    inference: Inference
    teacher_inference: Inference
