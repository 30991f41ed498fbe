# The base model: what users of the big study download, the laptop makes from its seed.


rule base:
    input:
        words=WORDS,
    output:
        model=directory("<results>/base/model"),
        steps="<results>/base/steps.jsonl",
    log:
        "<logs>/base.log",
    benchmark:
        "<benchmarks>/base.tsv"
    threads: STUDY.model.tiny.threads
    resources:
        mem_mb=3000,
        runtime=60,
        gpu=0,
    params:
        study=STUDY.name,
        domain=STUDY.domain,
        root_seed=STUDY.root_seed,
        model=lookup(dpath="model", within=PARTS),
        toolbox=lookup(dpath="toolbox", within=PARTS),
        threads=STUDY.model.tiny.threads,
        code=lookup(dpath="base", within=CODE),
        toolchain=TOOLCHAIN,
    script:
        "../scripts/base.py"
