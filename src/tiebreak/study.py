"""The study file: what a user edits. Everything else follows from it."""

import difflib
import json
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, TypeAdapter, ValidationError, field_validator, model_validator

from tiebreak.errors import ConfigError
from tiebreak.paths import BASE_ARM, prime_rl, run_name
from tiebreak.sections.arm import Arm
from tiebreak.sections.base import Section
from tiebreak.sections.data import Data
from tiebreak.sections.evaluation import EvaluationPlan, Probe, engine_of
from tiebreak.sections.fathom import FathomArm, FathomEvaluation, ReplSection, TaskData
from tiebreak.sections.model import Model, Toolbox
from tiebreak.sections.publish import Publish
from tiebreak.sections.rlvr import RlvrPlan
from tiebreak.sections.sft import Sft
from tiebreak.sections.statistics import Statistics
from tiebreak.study_errors import first_error, shown
from tiebreak.yaml_files import load_mapping

STUDIES = Path("config/studies")
SCHEMA = Path("config/schemas/study.schema.json")
NAME = r"^[a-z0-9][a-z0-9_-]*$"
ARM = r"^[a-z][a-z0-9_]*$"
ArmName = Annotated[str, Field(pattern=ARM)]


class Study(Section):
    """A reward-shape study."""

    name: str = Field(
        pattern=NAME, description="the folder of its results: small letters, digits, _ and -", examples=["laptop"]
    )
    root_seed: int = Field(ge=0, lt=2**63, description="the seed of all seeds", examples=[20261129])
    domain: Literal["rust"] = Field("rust", description="what makes and grades the tasks", examples=["rust"])
    data: Data = Field(description="tasks and splits", examples=["{source: {generate: {cases: 12000}}, splits: …}"])
    model: Model = Field(description="the base model", examples=["{base: tiny, max_length: 1024}"])
    toolbox: Toolbox = Field(default_factory=Toolbox, description="what the tools answer", examples=["{}"])
    sft: Sft = Field(default_factory=Sft, description="supervised fine-tuning", examples=["{epochs: 1}"])
    rlvr: RlvrPlan = Field(description="reinforcement learning", examples=["{training_seeds: 2, steps: 14}"])
    arms: dict[ArmName, Arm] = Field(
        min_length=1,
        description="the reward shapes under test, by name",
        examples=["{sparse: {}, dense: {compiled: 0.5}}"],
    )
    evaluation: EvaluationPlan = Field(description="sampling on held-out cases", examples=["{k: 8, repetitions: 3}"])
    probe: Probe = Field(
        default_factory=Probe, description="the learning probe", examples=["{prompts: 64, samples: 8}"]
    )
    statistics: Statistics = Field(
        default_factory=Statistics,
        description="how differences are judged",
        examples=["{alpha: 0.05, cluster: template}"],
    )
    publish: Publish = Field(default_factory=Publish, description="where a release goes", examples=["{dataset: null}"])

    @field_validator("arms")
    @classmethod
    def not_the_base(cls, arms: dict[str, Arm]) -> dict[str, Arm]:
        """`sft` is an arm of every study already: the one that trains no further."""
        if BASE_ARM in arms:
            raise ValueError(f"{BASE_ARM} is the arm that trains no further and is there already; use another name")
        return arms

    @model_validator(mode="after")
    def probe_fits(self) -> Self:
        """The probe's prompts come from the pool."""
        if self.probe.prompts > self.data.splits.pool:
            raise ValueError(
                f"probe.prompts is {self.probe.prompts}, data.splits.pool is {self.data.splits.pool}; "
                "the probe cannot have more prompts than the pool"
            )
        return self

    @model_validator(mode="after")
    def engines_fit(self) -> Self:
        """On a GPU vLLM samples; beside a trainer it is given the adapter, so there must be one."""
        for place, section in (("evaluation", self.evaluation), ("rlvr", self.rlvr)):
            if section.engine == "hf" and self.model.device == "cuda":
                raise ValueError(f"{place}.engine is hf, which samples on the CPU; with model.device cuda write vllm")
        if self.engine("rlvr") == "vllm" and not self.rlvr.lora_rank:
            raise ValueError(
                "rlvr.lora_rank is 0 and trainer trl samples with vllm, which is given adapters; set a rank such as 64"
            )
        return self

    @property
    def training_seeds(self) -> list[int]:
        """The training seeds of every arm: 0, 1, …"""
        return list(range(self.rlvr.training_seeds))

    @property
    def repetitions(self) -> list[int]:
        """The repetitions of every run: 0, 1, …"""
        return list(range(self.evaluation.repetitions))

    @property
    def trained_runs(self) -> list[str]:
        """The run of each arm and training seed, in the study's order."""
        return [run_name(arm, seed) for arm in self.arms for seed in self.training_seeds]

    @property
    def runs(self) -> list[str]:
        """All runs that are evaluated: `sft`, then the trained ones."""
        return [BASE_ARM, *self.trained_runs]

    def gpus(self, stage: Literal["sft", "rlvr", "evaluation"]) -> int:
        """GPUs of one job of a stage; 0 on a CPU study."""
        section: Sft | RlvrPlan | EvaluationPlan = getattr(self, stage)
        return section.gpus if self.model.device == "cuda" else 0

    def engine(self, stage: Literal["rlvr", "evaluation"]) -> str:
        """The engine of a stage's sampling; prime-rl brings its own."""
        if stage == "rlvr" and self.rlvr.trainer == "prime-rl":
            return "prime-rl"
        section: RlvrPlan | EvaluationPlan = getattr(self, stage)
        return engine_of(section.engine, self.model.device)

    @property
    def shards(self) -> list[int]:
        """The shards of an evaluation: 0, 1, …; none where one job has all cases."""
        return list(range(self.evaluation.shards)) if self.evaluation.shards > 1 else []

    @property
    def drifting(self) -> list[str]:
        """The arms that have the fault `drifted_prompt`."""
        return [name for name, arm in self.arms.items() if "drifted_prompt" in arm.faults]

    def tools(self) -> list[Path]:
        """What must be installed for the trainings, as the files that say so."""
        part = self.rlvr.prime_rl
        return [prime_rl(part.commit)] if self.rlvr.trainer == "prime-rl" and part is not None else []

    def questions(self) -> list[str]:
        """What the study's user has to name before it can run; a dry run does without."""
        imported = getattr(self.data.source, "imported", None)  # not every domain imports
        if imported is None or not imported.is_open:
            return []
        return [
            f"data.source.import.revision is `ask`: name the commit of dataset {imported.dataset} that you mean, "
            "40 hexadecimal digits from its history (for a copy in a folder: name the folder and remove revision)"
        ]

    def parts(self) -> dict[str, Any]:
        """The study as plain values, defaults filled in, for rules to look up what they read.

        Left out is how often things are done (training_seeds, repetitions, call_budgets) and in how many jobs (shards),
        so that doing more repeats nothing.
        """
        counts = {"rlvr": {"training_seeds"}, "evaluation": {"repetitions", "call_budgets", "shards"}}
        return self.model_dump(mode="json", by_alias=True, exclude=counts)


class FathomStudy(Study):
    """A reward-shape study in the fathom domain."""

    domain: Literal["fathom"] = Field(description="what makes and grades the tasks", examples=["fathom"])  # type: ignore[assignment]
    data: TaskData = Field(description="tasks and splits", examples=["{source: {generate: {cases: 1000}}, splits: …}"])  # type: ignore[assignment]
    toolbox: ReplSection = Field(  # type: ignore[assignment]
        default_factory=ReplSection, description="prompts and the REPL", examples=["{excerpt_tokens: 64}"]
    )
    arms: dict[ArmName, FathomArm] = Field(  # type: ignore[assignment]
        min_length=1,
        description="the reward shapes under test, by name",
        examples=["{v1_gate: {table: v1_gate}, v2_soft: {table: v2_soft}}"],
    )
    evaluation: FathomEvaluation = Field(
        description="sampling on held-out cases", examples=["{k: 8, repetitions: 3, call_budgets: [0, 1]}"]
    )

    @model_validator(mode="after")
    def budgets_are_others(self) -> Self:
        """The toolbox's own budget is that of the evaluations, whose rollouts would count twice."""
        if self.toolbox.most_calls in self.evaluation.call_budgets:
            raise ValueError(
                f"evaluation.call_budgets has {self.toolbox.most_calls}, which is toolbox.most_calls and what the "
                "evaluations have anyway; leave it out"
            )
        return self


STUDIES_OF: dict[str, type[Study]] = {"rust": Study, "fathom": FathomStudy}


def load(name_or_path: str | Path, root: Path = Path()) -> Study:
    """The study of a name in `root`/config/studies, or of a path. Raises ConfigError for the first thing wrong."""
    path = find(str(name_or_path), root)
    values = load_mapping(path)
    model = kind_of(values, path)
    try:
        study = model.model_validate(values)
    except ValidationError as error:
        raise ConfigError(f"{path}: {first_error(error, model)}") from None
    if path.parent == root / STUDIES and study.name != path.stem:
        raise ConfigError(
            f"{path}: name is {study.name!r}, the folder of another study's results; write name: {path.stem}"
        )
    return study


def kind_of(values: dict[str, Any], path: Path) -> type[Study]:
    """The model of a study by its domain. Raises ConfigError for a domain that there is not."""
    domain = values.get("domain", "rust")
    if isinstance(domain, str) and domain in STUDIES_OF:
        return STUDIES_OF[domain]
    raise ConfigError(f"{path}: domain is {shown(domain)}; {' or '.join(STUDIES_OF)} is expected")


def find(name_or_path: str, root: Path) -> Path:
    """The file of a study. Raises ConfigError with the names that there are."""
    if name_or_path.endswith((".yaml", ".yml")) or "/" in name_or_path:
        path = Path(name_or_path) if Path(name_or_path).is_absolute() else root / name_or_path
        if not path.is_file():
            raise ConfigError(f"{path}: there is no such study file; give a path to one or a name in {STUDIES}")
        return path
    path = root / STUDIES / f"{name_or_path}.yaml"
    if path.is_file():
        return path
    names = sorted(found.stem for found in (root / STUDIES).glob("*.yaml"))
    near = difflib.get_close_matches(name_or_path, names, n=1)
    mend = f"did you mean {near[0]}?" if near else f"add {path} or give a path to a study file"
    raise ConfigError(f"study {name_or_path!r}: not in {STUDIES} (there: {', '.join(names) or 'none'}); {mend}")


def schema() -> str:
    """The JSON schema of a study file, as it is exported for editors."""
    return (
        json.dumps(TypeAdapter(Study | FathomStudy).json_schema(), indent=2, ensure_ascii=False, sort_keys=True) + "\n"
    )


def export_schema(root: Path = Path()) -> None:
    """Write the schema to its place; a test fails while the file is older than the models."""
    (root / SCHEMA).parent.mkdir(parents=True, exist_ok=True)
    (root / SCHEMA).write_text(schema(), encoding="utf-8")
