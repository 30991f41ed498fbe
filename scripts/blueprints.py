"""Rule blueprints: specs from the sources that the study names."""

import json
from pathlib import Path

from tiebreak.domains.rust.blueprints import dump_blueprints
from tiebreak.domains.rust.llm.orders import orders
from tiebreak.domains.rust.sources import Generated, Imported, Written, collect
from tiebreak.job import Job
from tiebreak.sections.data import Source

with Job(snakemake) as job:

    def written(llm):
        """The source of a language model's replies."""
        wanted = orders(llm.families, llm.categories, llm.difficulties, llm.cases, job.params.root_seed)
        return Written(Path(job.input.replies), llm.model, wanted)

    wanted = job.part("source", Source)
    sources = [
        *([Generated(**wanted.generate.model_dump())] if wanted.generate else []),
        *([Imported(**wanted.imported.model_dump())] if wanted.imported else []),
        *([written(wanted.llm)] if wanted.llm else []),
    ]
    drawn = collect(sources, job.params.root_seed)
    print(drawn.words)
    dump_blueprints(Path(job.output.blueprints), drawn.blueprints)
    lines = [json.dumps(reject, sort_keys=True, ensure_ascii=False) + "\n" for reject in drawn.rejects]
    Path(job.output.refused).write_text("".join(lines), encoding="utf-8")
