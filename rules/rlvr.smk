# Reinforcement learning: an arm's ties gate, then for each training seed a trial, its decision, and the training.


rule ties:
    input:
        probe="<results>/probes/sft/rollouts.parquet",
    output:
        gate="<results>/gates/ties/{arm}.json",
    log:
        "<logs>/ties/{arm}.log",
    benchmark:
        "<benchmarks>/ties/{arm}.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
        gpu=0,
    params:
        study=STUDY.name,
        domain=STUDY.domain,
        arm=lookup(dpath="arms/{arm}", within=PARTS),
        max_tied=lookup(dpath="rlvr/trial/max_tied", within=PARTS),
        code=lookup(dpath="ties", within=CODE),
        toolchain=TOOLCHAIN,
    script:
        "../scripts/ties.py"


rule trial:
    input:
        model="<results>/sft/model",
        cases="<results>/data/cases.jsonl",
        pool="<results>/data/pool.parquet",
        bands=branch(STUDY.rlvr.pool, then="<results>/data/bands.parquet"),
        ties="<results>/gates/ties/{arm}.json",
        tool=ancient(PRIME_RL),
        engine=ancient(VLLM["rlvr"]),
    output:
        trial="<results>/arms/{arm}/seed{seed}/trial.json",
        decision="<results>/arms/{arm}/seed{seed}/decision.json",
    log:
        "<logs>/arms/{arm}/seed{seed}/trial.log",
    benchmark:
        "<benchmarks>/arms/{arm}/seed{seed}/trial.tsv"
    threads: STUDY.rlvr.threads
    resources:
        mem_mb=LARGE["rlvr"] or 4000,
        runtime=120,
        gpu=GPUS["rlvr"],
    params:
        study=STUDY.name,
        domain=STUDY.domain,
        root_seed=STUDY.root_seed,
        arm=lookup(dpath="arms/{arm}", within=PARTS),
        model=lookup(dpath="model", within=PARTS),
        rlvr=lookup(dpath="rlvr", within=PARTS),
        toolbox=lookup(dpath="toolbox", within=PARTS),
        threads=STUDY.rlvr.threads,
        gpus=GPUS["rlvr"],
        code=lookup(dpath="trial", within=CODE),
        toolchain=TOOLCHAIN,
    script:
        "../scripts/trial.py"


rule rlvr:
    input:
        model="<results>/sft/model",
        cases="<results>/data/cases.jsonl",
        pool="<results>/data/pool.parquet",
        bands=branch(STUDY.rlvr.pool, then="<results>/data/bands.parquet"),
        trial="<results>/arms/{arm}/seed{seed}/trial.json",
        decision="<results>/arms/{arm}/seed{seed}/decision.json",
        tool=ancient(PRIME_RL),
        engine=ancient(VLLM["rlvr"]),
    output:
        model=directory("<results>/arms/{arm}/seed{seed}/model"),
        steps="<results>/arms/{arm}/seed{seed}/steps.jsonl",
        groups="<results>/arms/{arm}/seed{seed}/groups.jsonl",
    log:
        "<logs>/arms/{arm}/seed{seed}/rlvr.log",
    benchmark:
        "<benchmarks>/arms/{arm}/seed{seed}/rlvr.tsv"
    # before further trials: a training's checkpoints stay on the disk from its trial to its end
    priority: 1
    threads: STUDY.rlvr.threads
    resources:
        mem_mb=LARGE["rlvr"] or 4000,
        runtime=720,
        gpu=GPUS["rlvr"],
    params:
        study=STUDY.name,
        domain=STUDY.domain,
        root_seed=STUDY.root_seed,
        arm=lookup(dpath="arms/{arm}", within=PARTS),
        model=lookup(dpath="model", within=PARTS),
        rlvr=lookup(dpath="rlvr", within=PARTS),
        toolbox=lookup(dpath="toolbox", within=PARTS),
        threads=STUDY.rlvr.threads,
        gpus=GPUS["rlvr"],
        code=lookup(dpath="rlvr", within=CODE),
        toolchain=TOOLCHAIN,
    script:
        "../scripts/rlvr.py"
