# Tasks: specs from the study's sources, run through real cargo, divided, and searched for leaks.


rule replies:
    input:
        words=WORDS,
    output:
        replies="<results>/data/replies.jsonl",
        usage="<results>/data/usage.json",
    log:
        "<logs>/replies.log",
    benchmark:
        "<benchmarks>/replies.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=720,
        gpu=0,
    params:
        study=STUDY.name,
        root_seed=STUDY.root_seed,
        llm=lookup(dpath="data/source/llm", within=PARTS, default=None),
        code=lookup(dpath="replies", within=CODE),
        toolchain=TOOLCHAIN,
    script:
        "../scripts/replies.py"


rule blueprints:
    input:
        words=WORDS,
        imported=STUDY.data.source.files(),
        replies=branch(WRITTEN, then="<results>/data/replies.jsonl"),
    output:
        blueprints="<results>/data/blueprints.jsonl",
        refused="<results>/data/refused.jsonl",
    log:
        "<logs>/blueprints.log",
    benchmark:
        "<benchmarks>/blueprints.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
        gpu=0,
    params:
        study=STUDY.name,
        domain=STUDY.domain,
        root_seed=STUDY.root_seed,
        source=lookup(dpath="data/source", within=PARTS),
        code=lookup(dpath="blueprints", within=CODE),
        toolchain=TOOLCHAIN,
    script:
        "../scripts/blueprints.py"


rule cases:
    input:
        blueprints="<results>/data/blueprints.jsonl",
        refused="<results>/data/refused.jsonl",
    output:
        cases="<results>/data/cases.jsonl",
        rejects="<results>/data/rejects.jsonl",
    log:
        "<logs>/cases.log",
    benchmark:
        "<benchmarks>/cases.tsv"
    threads: 2
    resources:
        mem_mb=2000,
        runtime=60,
        gpu=0,
    params:
        study=STUDY.name,
        domain=STUDY.domain,
        code=lookup(dpath="cases", within=CODE),
        toolchain=TOOLCHAIN,
    script:
        "../scripts/cases.py"


rule splits:
    input:
        cases="<results>/data/cases.jsonl",
    output:
        splits="<results>/data/splits.json",
    log:
        "<logs>/splits.log",
    benchmark:
        "<benchmarks>/splits.tsv"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
        gpu=0,
    params:
        study=STUDY.name,
        domain=STUDY.domain,
        root_seed=STUDY.root_seed,
        splits=lookup(dpath="data/splits", within=PARTS),
        leakage=lookup(dpath="data/leakage", within=PARTS),
        code=lookup(dpath="splits", within=CODE),
        toolchain=TOOLCHAIN,
    script:
        "../scripts/splits.py"


rule leakage:
    input:
        cases="<results>/data/cases.jsonl",
        splits="<results>/data/splits.json",
    output:
        gate="<results>/gates/leakage.json",
    log:
        "<logs>/leakage.log",
    benchmark:
        "<benchmarks>/leakage.tsv"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
        gpu=0,
    params:
        study=STUDY.name,
        domain=STUDY.domain,
        leakage=lookup(dpath="data/leakage", within=PARTS),
        code=lookup(dpath="leakage", within=CODE),
        toolchain=TOOLCHAIN,
    script:
        "../scripts/leakage.py"
