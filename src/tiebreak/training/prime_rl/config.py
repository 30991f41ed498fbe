"""One training of one arm as the file that prime-rl's `rl` reads."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tiebreak.chat import END, START
from tiebreak.domains.rust.rewards import RewardTable
from tiebreak.errors import ConfigError
from tiebreak.paths import Paths
from tiebreak.sections.model import Toolbox
from tiebreak.sections.prime_rl import PrimeRl
from tiebreak.sections.rlvr import Rlvr
from tiebreak.seeds import derive
from tiebreak.study import Study
from tiebreak.training.prime_rl import keys, toml

NEVER = -100.0
SEEDS = 2**31
"""vLLM's engine takes seeds below this."""


@dataclass(frozen=True)
class Spec:
    """Which training this is and where its files are.

    arguments: what the environment's `load_environment` gets beside the seed, the limit of rounds and the limit of
    seconds: the reward table, the cases, the prompts and the toolbox. view: the folder of `view.install`.
    """

    study: str
    root_seed: int
    arm: str
    training_seed: int
    rlvr: Rlvr
    arguments: dict[str, Any]
    view: Path
    out: Path

    @property
    def prime_rl(self) -> PrimeRl:
        """The study's part for prime-rl. Raises ConfigError where it has none."""
        if self.rlvr.prime_rl is None:
            raise ConfigError(f"study {self.study}: rlvr.prime_rl is not there; write rlvr.trainer: prime-rl and it")
        return self.rlvr.prime_rl

    def seed(self, name: str, *place: int) -> int:
        """A seed of this training, for one of prime-rl's parts; place: what else the part is told apart by."""
        return derive(self.root_seed, "train", self.arm, self.training_seed, "prime-rl", name, *place) % SEEDS


def build(spec: Spec, *, until: int, resume: int | None = None) -> keys.Rl:
    """The configuration that trains up to step `until`, from the checkpoint of step `resume` or from the SFT model."""
    part, rlvr = spec.prime_rl, spec.rlvr
    return keys.Rl(
        output_dir=str(spec.out),
        max_steps=until,
        deployment=keys.Deployment(
            gpus_per_node=part.gpus,
            num_infer_gpus=part.rollout_gpus,
            num_train_gpus=part.train_gpus,
            num_teacher_gpus=part.teacher_gpus,
        ),
        ckpt=keys.Checkpoints(interval=part.checkpoint_interval, resume_step=resume),
        tokenizer=keys.Tokenizer(name=str(spec.view)),
        trainer=trainer(spec),
        orchestrator=orchestrator(spec, resume),
        inference=server(spec, part.port, part.sequence, spec.seed("rollouts"), rank=rlvr.lora_rank),
        # the teacher reads a whole rollout and writes one token more, so it needs room for it
        teacher_inference=server(spec, part.teacher_port, part.sequence + 1, spec.seed("teacher"), rank=None),
    )


def text(config: keys.Rl) -> str:
    """The configuration as TOML."""
    return toml.dumps(config.model_dump(exclude_none=True))


def trainer(spec: Spec) -> keys.Trainer:
    """The trainer's part."""
    part, rlvr, lora = spec.prime_rl, spec.rlvr, spec.rlvr.lora_settings
    return keys.Trainer(
        model=keys.TrainerModel(
            name=str(spec.view),
            seq_len=part.sequence,
            optimization_dtype=part.training_dtype,
            reduce_dtype=part.training_dtype,
            lora=keys.TrainerLora(
                rank=rlvr.lora_rank, alpha=rlvr.lora_alpha, dropout=lora.dropout, target_modules=list(lora.targets)
            ),
        ),
        loss=keys.Loss(
            adv_tau=part.advantage_tau,
            teacher_tau=rlvr.anchor,
            kl_tau=part.kl_tau,
            dppo_mask_low=part.mask,
            dppo_mask_high=part.mask,
        ),
        optim=keys.Optimizer(lr=rlvr.learning_rate, weight_decay=part.weight_decay, max_norm=part.max_norm),
    )


def orchestrator(spec: Spec, resume: int | None = None) -> keys.Orchestrator:
    """The orchestrator's part: batches, the student and its frozen teacher, filters, sampling, and our environment.

    The environment counts the samples of a case from 0 in every process, so a training that goes on from a step has
    another seed there: with the same it would ask for the rollouts of its first steps once more.
    """
    part, rlvr, batch = spec.prime_rl, spec.rlvr, spec.rlvr.prompts * spec.rlvr.group
    lora = keys.StudentLora(
        name=f"{spec.study}-{spec.arm}-seed{spec.training_seed}", rank=rlvr.lora_rank, alpha=rlvr.lora_alpha
    )
    arguments = {
        "timeout": part.tool_seconds,
        "max_tool_rounds": rlvr.tool_rounds,
        "seed": spec.seed("environment", *([] if resume is None else [resume])),
        **spec.arguments,
    }
    return keys.Orchestrator(
        batch_size=batch,
        max_inflight_rollouts=batch,
        rollouts_per_example=rlvr.group,
        seq_len=part.sequence,
        seed=spec.seed("orchestrator"),
        buffer=keys.Seed(seed=spec.seed("prompts")),
        student=keys.Student(
            model=keys.StudentModel(name=str(spec.view), lora=lora), client=keys.Client(base_url=[address(part.port)])
        ),
        teacher=keys.Teacher(
            model=keys.Name(name=str(spec.view)), client=keys.Client(base_url=[address(part.teacher_port)])
        ),
        train=keys.TrainingEnvironments(
            sampling=sampling(spec), env=[keys.Environment(id=part.environment, args=arguments)]
        ),
    )


def sampling(spec: Spec) -> keys.Sampling:
    """Sampling of rollouts: a turn ends at either tag, and rows of the output that no token has are never drawn."""
    part = spec.prime_rl
    beyond = range(part.tokenizer_size, part.vocabulary)
    return keys.Sampling(
        temperature=spec.rlvr.temperature,
        max_completion_tokens=spec.rlvr.turn_tokens,
        extra_body=keys.ExtraBody(
            stop=[END, START],
            stop_token_ids=list(part.stop_tokens),
            logit_bias={str(token): NEVER for token in beyond},
        ),
    )


def server(spec: Spec, port: int, length: int, seed: int, *, rank: int | None) -> keys.Inference:
    """A vLLM server of the SFT model: the student's takes adapters, the teacher's (`rank` None) never."""
    part = spec.prime_rl
    return keys.Inference(
        gpu_memory_utilization=part.gpu_memory,
        seed=seed,
        enable_lora=rank is not None,
        max_lora_rank=rank,
        server=keys.Port(port=port),
        model=keys.ServedModel(name=str(spec.view), dtype=part.rollout_dtype, max_model_len=length),
    )


def arguments(table: RewardTable, toolbox: Toolbox, *, arm: str, cases: Path, prompts: Path) -> dict[str, Any]:
    """What an arm's environment needs to know: its reward table, where the tasks are, and what the tools answer."""
    return {
        "arm": arm,
        "reward": table.model_dump(mode="json"),
        "cases": str(cases),
        "prompts": str(prompts),
        "toolbox": toolbox.model_dump(mode="json"),
    }


def of_study(study: Study, arm: str, training_seed: int) -> Spec:
    """The training of a study's arm, its files in the study's folders.

    Raises ConfigError for an arm or a seed that the study does not have.
    """
    if arm not in study.arms:
        raise ConfigError(f"study {study.name} has no arm {arm} (arms: {', '.join(study.arms)})")
    if training_seed not in study.training_seeds:
        last = study.training_seeds[-1]
        raise ConfigError(f"study {study.name} has no training seed {training_seed}; its last is {last}")
    paths = Paths(study.name)
    work = paths.work / f"trial-{arm}-{training_seed}"
    return Spec(
        study=study.name,
        root_seed=study.root_seed,
        arm=arm,
        training_seed=training_seed,
        rlvr=study.rlvr,
        arguments=arguments(
            study.arms[arm].reward_table(), study.toolbox, arm=arm, cases=paths.cases, prompts=paths.prompts("pool")
        ),
        view=work / "view",
        out=work / "prime-rl",
    )


def address(port: int) -> str:
    """The address of a server of this machine."""
    return f"http://localhost:{port}/v1"
