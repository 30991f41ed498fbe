# Supervised fine-tuning, once; every arm starts from it. It waits for the gates that stop a study.


rule sft:
    input:
        base=BASE,
        traces="<results>/data/sft.parquet",
        leakage="<results>/gates/leakage.json",
        parity="<results>/gates/parity.json",
    output:
        model=directory("<results>/sft/model"),
        steps="<results>/sft/steps.jsonl",
        record="<results>/sft/record.json",
    log:
        "<logs>/sft.log",
    benchmark:
        "<benchmarks>/sft.tsv"
    threads: STUDY.sft.threads
    resources:
        mem_mb=LARGE["sft"] or 4000,
        runtime=120,
        gpu=GPUS["sft"],
    params:
        study=STUDY.name,
        domain=STUDY.domain,
        root_seed=STUDY.root_seed,
        model=lookup(dpath="model", within=PARTS),
        sft=lookup(dpath="sft", within=PARTS),
        threads=STUDY.sft.threads,
        gpus=GPUS["sft"],
        code=lookup(dpath="sft", within=CODE),
        toolchain=TOOLCHAIN,
    script:
        "../scripts/sft.py"
