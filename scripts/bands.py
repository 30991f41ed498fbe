"""Rule bands: which pool prompts the SFT model never, sometimes or always solves, for a study that mixes its pool.

The samples are drawn as training draws them, with seeds that the learning probe does not have.
"""

from pathlib import Path

from tiebreak import tables
from tiebreak.engines.base import Sampling
from tiebreak.job import Job
from tiebreak.job_sampling import sample_run
from tiebreak.paths import BASE_ARM
from tiebreak.sampling import Plan
from tiebreak.sections.model import Model
from tiebreak.training.pool import band_rows

with Job(snakemake) as job:
    params = job.params
    plan = Plan(
        root_seed=params.root_seed,
        stream=("bands",),
        arm=BASE_ARM,
        training_seed=None,
        repetition=0,
        samples=params.samples,
        tool_rounds=params.tool_rounds,
        block=params.block,
    )
    sample_run(job, plan, Sampling(params.temperature, params.turn_tokens, job.part("model", Model).max_length))
    columns = ["case_id", "family", "template", "difficulty", "stop", "graded"]
    rows = band_rows(tables.read_table(Path(job.output.rollouts), columns).to_pylist())
    counts = {name: sum(row["band"] == name for row in rows) for name in ("never", "sometimes", "always")}
    print(f"{len(rows)} prompts: {', '.join(f'{name} {count}' for name, count in counts.items())}")
    tables.write_table(Path(job.output.bands), rows, tables.BANDS)
