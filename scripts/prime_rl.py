"""Rule prime_rl: prime-rl at the study's commit, in an environment of its own."""

from pathlib import Path

from tiebreak.job import Job
from tiebreak.training.prime_rl.install import install

with Job(snakemake) as job:
    stamp = Path(job.output[0])
    install(stamp.parent / "prime-rl", job.params.commit, Path.cwd(), stamp)
