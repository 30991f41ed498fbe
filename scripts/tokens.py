"""Rule tokens: what SFT's traces come to in tokens, and some to look at with their mask. One too long is an error."""

from pathlib import Path

from transformers import AutoTokenizer

from tiebreak.job import Job
from tiebreak.sections.model import Model
from tiebreak.training.tokens import encoded, read_traces, sample, statistics

with Job(snakemake) as job:
    traces, limit = Path(job.input.traces), job.part("model", Model).max_length
    tokenizer = AutoTokenizer.from_pretrained(job.input.base)
    rows = encoded(traces, tokenizer, 0.0, limit)
    found = statistics(rows, limit)
    print(", ".join(f"{name} {value}" for name, value in found.items()))
    job.write_json(job.output.tokens, found)
    job.write_json(job.output.sample, sample(read_traces(traces), [len(row.ids) for row in rows], tokenizer))
