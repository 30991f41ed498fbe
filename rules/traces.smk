# What training and evaluation are shown, and the proof that it is the same bytes.


rule traces:
    input:
        cases="<results>/data/cases.jsonl",
        splits="<results>/data/splits.json",
    output:
        traces="<results>/data/sft.parquet",
    log:
        "<logs>/traces.log",
    benchmark:
        "<benchmarks>/traces.tsv"
    threads: 2
    resources:
        mem_mb=3000,
        runtime=120,
        gpu=0,
    params:
        study=STUDY.name,
        domain=STUDY.domain,
        root_seed=STUDY.root_seed,
        detours=lookup(dpath="data/detours", within=PARTS),
        system_message=lookup(dpath="model/system_message", within=PARTS),
        toolbox=lookup(dpath="toolbox", within=PARTS),
        most_calls=min(STUDY.rlvr.tool_rounds, STUDY.evaluation.tool_rounds),
        code=lookup(dpath="traces", within=CODE),
        toolchain=TOOLCHAIN,
    script:
        "../scripts/traces.py"


rule tokens:
    input:
        base=BASE,
        traces="<results>/data/sft.parquet",
    output:
        tokens="<results>/data/sft_tokens.json",
        sample="<results>/data/sft_sample.json",
    log:
        "<logs>/tokens.log",
    benchmark:
        "<benchmarks>/tokens.tsv"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=20,
        gpu=0,
    params:
        study=STUDY.name,
        model=lookup(dpath="model", within=PARTS),
        code=lookup(dpath="tokens", within=CODE),
        toolchain=TOOLCHAIN,
    script:
        "../scripts/tokens.py"


rule prompts:
    input:
        cases="<results>/data/cases.jsonl",
        splits="<results>/data/splits.json",
    output:
        pool="<results>/data/pool.parquet",
        holdout="<results>/data/holdout.parquet",
    log:
        "<logs>/prompts.log",
    benchmark:
        "<benchmarks>/prompts.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
        gpu=0,
    params:
        study=STUDY.name,
        domain=STUDY.domain,
        system_message=lookup(dpath="model/system_message", within=PARTS),
        rlvr_system_message=lookup(dpath="rlvr/system_message", within=PARTS),
        toolbox=lookup(dpath="toolbox", within=PARTS),
        code=lookup(dpath="prompts", within=CODE),
        toolchain=TOOLCHAIN,
    script:
        "../scripts/prompts.py"


rule parity:
    input:
        cases="<results>/data/cases.jsonl",
        splits="<results>/data/splits.json",
        traces="<results>/data/sft.parquet",
        pool="<results>/data/pool.parquet",
        holdout="<results>/data/holdout.parquet",
    output:
        gate="<results>/gates/parity.json",
    log:
        "<logs>/parity.log",
    benchmark:
        "<benchmarks>/parity.tsv"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=5,
        gpu=0,
    params:
        study=STUDY.name,
        domain=STUDY.domain,
        system_message=lookup(dpath="model/system_message", within=PARTS),
        declared=parity_faults(),
        drifting=STUDY.drifting,
        toolbox=lookup(dpath="toolbox", within=PARTS),
        code=lookup(dpath="parity", within=CODE),
        toolchain=TOOLCHAIN,
    script:
        "../scripts/parity.py"
