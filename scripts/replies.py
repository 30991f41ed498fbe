"""Rule replies: specs asked of a language model. A reply is paid for, so it is kept for later runs of the rule."""

from pathlib import Path

from tqdm import tqdm

from tiebreak.domains.rust.llm.orders import orders
from tiebreak.domains.rust.llm.replies import Store, ask, usage, write_replies
from tiebreak.endpoint import Endpoint
from tiebreak.job import Job
from tiebreak.sections.llm import Llm

with Job(snakemake) as job:
    llm = job.part("llm", Llm)
    endpoint = Endpoint(llm.endpoint, llm.model, llm.key_variable, llm.timeout, llm.tries)
    wanted = orders(llm.families, llm.categories, llm.difficulties, llm.cases, job.params.root_seed)
    store = Store(job.workplace / "replies.jsonl.zst")
    with tqdm(total=len(wanted), desc="replies", unit="spec", mininterval=1) as bar:
        rows = ask(endpoint, wanted, llm.options(), store, concurrency=llm.concurrency, progress=bar.update)
    found = usage(rows, None if llm.prices is None else llm.prices.model_dump())
    write_replies(Path(job.output.replies), wanted, rows)
    job.write_json(job.output.usage, found)
    cost = "unknown (no prices)" if found["cost"] is None else f"{found['cost']:g}"
    print(
        f"{found['replies']} replies of {llm.model}: {found['prompt_tokens']} prompt and {found['completion_tokens']} "
        f"completion tokens (of the {found['replies_with_token_counts']} that were told), cost {cost}"
    )
