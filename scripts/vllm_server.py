"""Rule vllm: vLLM in an environment of its own."""

from pathlib import Path

from tiebreak.engines.vllm_install import install
from tiebreak.job import Job

with Job(snakemake) as job:
    install(Path(job.output.installed), Path(job.input.lock))
