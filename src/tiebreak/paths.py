"""Where every artifact of a study lives. The rules spell the same places, and a test holds the two together."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tiebreak.errors import ConfigError

RESULTS = Path("results")
BASE_ARM = "sft"
RUN = re.compile(r"(?P<arm>[a-z][a-z0-9_]*)-seed(?P<seed>[0-9]+)")


def run_name(arm: str, training_seed: int) -> str:
    """The name of one training of an arm; `sft` trains no further and is a run by itself."""
    return f"{arm}-seed{training_seed}"


def parse_run(run: str) -> tuple[str, int | None]:
    """The arm and training seed of a run's name; no seed for `sft`. Raises ConfigError for anything else."""
    if run == BASE_ARM:
        return BASE_ARM, None
    match = RUN.fullmatch(run)
    if not match:
        raise ConfigError(f"run {run!r}: expected {BASE_ARM} or a name such as {run_name('dense', 0)}")
    return match["arm"], int(match["seed"])


def job_name(rule: str, wildcards: Mapping[str, str]) -> str:
    """A job's name, as in its record and its work folder: the rule and its wildcards, as in rlvr-dense-0."""
    return "-".join([rule, *(str(value) for _, value in sorted(wildcards.items()))])


def verdict_cache(results: Path = RESULTS) -> Path:
    """The cache of verdicts, shared by all studies: it is addressed by content."""
    return results / ".cache" / "verdicts"


def prime_rl(commit: str, results: Path = RESULTS) -> Path:
    """What says that prime-rl is installed beside it, at this commit; shared by all studies."""
    return results / ".tools" / f"prime-rl-{commit[:12]}" / "installed.json"


def vllm(lock: str, results: Path = RESULTS) -> Path:
    """What says that vLLM is installed beside it, from the lock with this digest; shared by all studies."""
    return results / ".tools" / f"vllm-{lock[:12]}" / "installed.json"


@dataclass(frozen=True)
class Paths:
    """The artifacts of one study under `results`."""

    study: str
    results: Path = RESULTS

    @property
    def root(self) -> Path:
        """The folder of the study."""
        return self.results / self.study

    @property
    def blueprints(self) -> Path:
        """Specs before they ran."""
        return self.root / "data" / "blueprints.jsonl"

    @property
    def cases(self) -> Path:
        """Blueprints that materialized."""
        return self.root / "data" / "cases.jsonl"

    @property
    def rejects(self) -> Path:
        """Blueprints that did not, with the reason."""
        return self.root / "data" / "rejects.jsonl"

    @property
    def splits(self) -> Path:
        """Case ids of each split."""
        return self.root / "data" / "splits.json"

    @property
    def sft_traces(self) -> Path:
        """Traces to learn from."""
        return self.root / "data" / "sft.parquet"

    def prompts(self, split: str) -> Path:
        """The prompts of `pool` or `holdout`."""
        return self.root / "data" / f"{split}.parquet"

    @property
    def bands(self) -> Path:
        """How often each prompt of the pool was solved, for a study that mixes its pool by it."""
        return self.root / "data" / "bands.parquet"

    def gate(self, name: str) -> Path:
        """The decision of a study's gate: leakage or parity."""
        return self.root / "gates" / f"{name}.json"

    def ties(self, arm: str) -> Path:
        """The decision of an arm's ties gate."""
        return self.root / "gates" / "ties" / f"{arm}.json"

    @property
    def base(self) -> Path:
        """The base model and its tokenizer."""
        return self.root / "base" / "model"

    def training(self, run: str) -> Path:
        """The folder of a training: `sft`, or one arm and seed."""
        arm, seed = parse_run(run)
        return self.root / "sft" if seed is None else self.root / "arms" / arm / f"seed{seed}"

    def model(self, run: str) -> Path:
        """The model of a run; a run that a gate stopped has only `stopped.json` there."""
        return self.training(run) / "model"

    def steps(self, run: str) -> Path:
        """One line for each optimizer step of a training."""
        return self.training(run) / "steps.jsonl"

    def groups(self, run: str) -> Path:
        """One line for each group of an RL training."""
        return self.training(run) / "groups.jsonl"

    def trial(self, run: str) -> Path:
        """What the trial of a training measured."""
        return self.training(run) / "trial.json"

    def decision(self, run: str) -> Path:
        """Whether a training goes on after its trial."""
        return self.training(run) / "decision.json"

    def run_of_training(self, path: str | Path) -> str:
        """The run in whose training folder the file at `path` stands."""
        arm, seed = Path(path).parts[-3:-1]
        return run_name(arm, int(seed.removeprefix("seed")))

    def probe(self, run: str) -> Path:
        """The learning probe's rollouts."""
        return self.root / "probes" / run / "rollouts.parquet"

    def budgets(self, run: str) -> Path:
        """The rollouts on held-out cases under each budget of calls."""
        return self.root / "budgets" / run / "rollouts.parquet"

    def evaluation(self, run: str, repetition: int) -> Path:
        """The folder of one repetition of a run's evaluation."""
        return self.root / "evals" / run / f"rep{repetition}"

    def rollouts(self, run: str, repetition: int) -> Path:
        """The rollouts of one repetition of a run's evaluation."""
        return self.evaluation(run, repetition) / "rollouts.parquet"

    def summary(self, arm: str) -> Path:
        """What an arm came to."""
        return self.root / "arms" / arm / "summary.json"

    @property
    def analysis(self) -> Path:
        """Estimates, tests and sentences."""
        return self.root / "stats" / "analysis.json"

    @property
    def audits(self) -> Path:
        """What the stored rollouts and training records show; tables and figures stand beside it."""
        return self.root / "audits" / "audits.json"

    @property
    def report(self) -> Path:
        """The page."""
        return self.root / "report" / "index.html"

    @property
    def records(self) -> Path:
        """Provenance, one record for each job."""
        return self.root / "records"

    def record(self, job: str) -> Path:
        """The record of a job (`job_name`)."""
        return self.records / f"{job}.json"

    @property
    def patches(self) -> Path:
        """What the tree of the code had beside its commit, by digest."""
        return self.records / "patches"

    @property
    def work(self) -> Path:
        """Unfinished work that a restart goes on from; no rule declares it as output, as Snakemake would empty it."""
        return self.root / "work"

    def stopped(self, job: str) -> tuple[Path, Path]:
        """The decision of a gate's job that stopped the study, and of which parameters and inputs it is."""
        return self.work / job / "stopped.json", self.work / job / "stopped-record.json"
