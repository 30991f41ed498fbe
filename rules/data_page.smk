# What the tasks are, for people: before anything is trained on them.


rule data_page:
    input:
        pages=PAGES,
        cases="<results>/data/cases.jsonl",
        rejects="<results>/data/rejects.jsonl",
        splits="<results>/data/splits.json",
        traces="<results>/data/sft.parquet",
        pool="<results>/data/pool.parquet",
        holdout="<results>/data/holdout.parquet",
        leakage="<results>/gates/leakage.json",
        parity="<results>/gates/parity.json",
        tokens=branch(not STUDY.model.is_made, then="<results>/data/sft_tokens.json"),
        sample=branch(not STUDY.model.is_made, then="<results>/data/sft_sample.json"),
    output:
        page=report(
            "<results>/data/report/index.html",
            caption="../resources/captions/data_page.rst",
            category="Study",
            labels={"study": STUDY.name, "what": "tasks"},
        ),
        figures=directory("<results>/data/report/figures"),
        tables=directory("<results>/data/report/tables"),
    log:
        "<logs>/data_page.log",
    benchmark:
        "<benchmarks>/data_page.tsv"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
        gpu=0,
    params:
        study=STUDY.name,
        domain=STUDY.domain,
        code=lookup(dpath="data_page", within=CODE),
        toolchain=TOOLCHAIN,
    script:
        "../scripts/data_page.py"
