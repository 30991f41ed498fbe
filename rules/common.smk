# The study, the values that the stages look up, and the few functions of their wildcards.
import atexit
import os
import sys
from pathlib import Path

from tiebreak import preflight as checks
from tiebreak.digest import code_digest, file_digest, toolchain_digest
from tiebreak.engines.vllm_machine import PYTHON
from tiebreak.errors import TiebreakError
from tiebreak.paths import Paths, parse_run, vllm
from tiebreak.study import load

ROOT = Path(workflow.basedir)


def refuse(check, *values, **options):
    """What `check` gives; what it refuses ends Snakemake with that text alone."""
    try:
        return check(*values, **options)
    except TiebreakError as error:
        sys.exit(f"tiebreak: {error}")


refuse(checks.check_config, config)
STUDY = refuse(load, config["study"])
SCRIPTS = (ROOT / "scripts").glob("*.py")
CODE = {path.stem: refuse(code_digest, path, ROOT, STUDY.domain) for path in SCRIPTS}
TOOLCHAIN = refuse(toolchain_digest, ROOT)
PATHS = Paths(STUDY.name)
PARTS = STUDY.parts()
WORDS = sorted(map(str, Path("resources/words").glob("*.txt")))
REPORT = Path("src/tiebreak/report")
PAGES = sorted(map(str, [*REPORT.glob("templates/*"), *REPORT.glob("viewer/*.js")]))
BASE = str(PATHS.base) if STUDY.model.is_made else STUDY.model.base
WRITTEN = getattr(STUDY.data.source, "llm", None)  # not every domain has this source
BUDGETS = getattr(STUDY.evaluation, "call_budgets", ())  # nor are there calls to limit
PRIME_RL = [str(path) for path in STUDY.tools()]
MODELS = [str(PATHS.model(run)) for run in STUDY.runs]
CARDS = sorted(map(str, Path("src/tiebreak/publish/templates").glob("*")))
HUB = os.environ.get("HF_ENDPOINT", "")  # a receipt of one hub is none of another
VLLM_LOCK = f"requirements/vllm{'-cpu' if STUDY.model.device == 'cpu' else ''}.txt"
# Where vLLM is installed, for the stages that sample with it; nowhere if the user has an environment of their own.
VLLM = {
    stage: (
        [str(vllm(file_digest(ROOT / VLLM_LOCK)))]
        if STUDY.engine(stage) == "vllm" and PYTHON not in os.environ
        else []
    )
    for stage in ("rlvr", "evaluation")
}
SHARDS = STUDY.shards
GPUS = {stage: STUDY.gpus(stage) for stage in ("sft", "rlvr", "evaluation")}
# A model of billions of weights passes through the memory of the machine; a tiny one takes what its rule says.
LARGE = {stage: 96000 if count else 0 for stage, count in GPUS.items()}


def model_of(wildcards):
    """The model of a run."""
    return str(PATHS.model(wildcards.run))


def shapes_of(wildcards):
    """The reward tables that a run's rollouts are scored under: its own arm's, none for sft."""
    arm, seed = parse_run(wildcards.run)
    return {} if seed is None else {arm: PARTS["arms"][arm]}


def parity_faults():
    """Whether every arm says that its prompts drift on purpose; otherwise a drift stops the study."""
    return all("drifted_prompt" in arm.faults for arm in STUDY.arms.values())


def preflight():
    """Before the first job: what only the machine can answer, and whether finished trainings may be run again.

    On a cluster the jobs run elsewhere, and each finds out for itself what that machine lacks.
    """
    allowed = config.get("retrain", False)
    refuse(checks.check_retraining, workflow.dag, STUDY, PATHS, allowed=allowed)
    refuse(
        checks.check_machine,
        workflow.dag,
        config["study"],
        STUDY,
        here=workflow.local_exec,
    )
    refuse(checks.check_named, STUDY)
    if workflow.is_main_process:
        refuse(checks.check_hub, workflow.dag, STUDY)


# Snakemake tells a Snakefile nothing of its targets, and of a wrong one only that no rule makes it.
refuse(checks.check_targets, sys.argv[1:], STUDY)
refuse(checks.check_publishing, sys.argv[1:], STUDY)

if workflow.is_main_process:
    checks.limit_gpus(workflow, max(GPUS.values()))
    atexit.register(checks.announce_retraining, workflow, STUDY, PATHS)
    atexit.register(checks.announce_devices, workflow)
