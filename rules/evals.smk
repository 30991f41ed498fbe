# Sampling from finished models: the learning probe on pool prompts, and the evaluation on held-out cases; of a study
# that mixes its pool, also the bands of all pool prompts; of one with budgets of calls, also the evaluation under these.
# What is sampled knows no other arm, so that a new arm leaves the old rollouts as they are.


rule probe:
    input:
        model=model_of,
        cases="<results>/data/cases.jsonl",
        prompts="<results>/data/pool.parquet",
        engine=ancient(VLLM["evaluation"]),
    output:
        rollouts="<results>/probes/{run}/rollouts.parquet",
        timings="<results>/probes/{run}/timings.parquet",
    log:
        "<logs>/probes/{run}.log",
    benchmark:
        "<benchmarks>/probes/{run}.tsv"
    threads: STUDY.evaluation.threads
    resources:
        mem_mb=LARGE["evaluation"] or 3000,
        runtime=60,
        gpu=GPUS["evaluation"],
    params:
        study=STUDY.name,
        domain=STUDY.domain,
        root_seed=STUDY.root_seed,
        shapes=shapes_of,
        model=lookup(dpath="model", within=PARTS),
        evaluation=lookup(dpath="evaluation", within=PARTS),
        probe=lookup(dpath="probe", within=PARTS),
        toolbox=lookup(dpath="toolbox", within=PARTS),
        threads=STUDY.evaluation.threads,
        gpus=GPUS["evaluation"],
        code=lookup(dpath="probe", within=CODE),
        toolchain=TOOLCHAIN,
    script:
        "../scripts/probe.py"


# Of a study with `evaluation.shards`: the cases of one evaluation, spread over jobs that rule `evaluation` gathers.
rule shard:
    input:
        model=model_of,
        cases="<results>/data/cases.jsonl",
        prompts="<results>/data/holdout.parquet",
        engine=ancient(VLLM["evaluation"]),
    output:
        rollouts="<results>/evals/{run}/rep{rep}/shards/{shard}/rollouts.parquet",
        timings="<results>/evals/{run}/rep{rep}/shards/{shard}/timings.parquet",
    log:
        "<logs>/evals/{run}/rep{rep}/{shard}.log",
    benchmark:
        "<benchmarks>/evals/{run}/rep{rep}/{shard}.tsv"
    threads: STUDY.evaluation.threads
    resources:
        mem_mb=LARGE["evaluation"] or 3000,
        runtime=240,
        gpu=GPUS["evaluation"],
    params:
        study=STUDY.name,
        domain=STUDY.domain,
        root_seed=STUDY.root_seed,
        shapes=shapes_of,
        model=lookup(dpath="model", within=PARTS),
        evaluation=lookup(dpath="evaluation", within=PARTS),
        toolbox=lookup(dpath="toolbox", within=PARTS),
        shards=len(SHARDS),
        threads=STUDY.evaluation.threads,
        gpus=GPUS["evaluation"],
        code=lookup(dpath="shard", within=CODE),
        toolchain=TOOLCHAIN,
    script:
        "../scripts/shard.py"


rule evaluation:
    input:
        model=model_of,
        cases="<results>/data/cases.jsonl",
        prompts="<results>/data/holdout.parquet",
        rollouts=collect(
            "<results>/evals/{{run}}/rep{{rep}}/shards/{shard}/rollouts.parquet",
            shard=SHARDS,
        ),
        timings=collect(
            "<results>/evals/{{run}}/rep{{rep}}/shards/{shard}/timings.parquet",
            shard=SHARDS,
        ),
        engine=[] if SHARDS else ancient(VLLM["evaluation"]),
    output:
        rollouts="<results>/evals/{run}/rep{rep}/rollouts.parquet",
        timings="<results>/evals/{run}/rep{rep}/timings.parquet",
        summary="<results>/evals/{run}/rep{rep}/summary.json",
    log:
        "<logs>/evals/{run}/rep{rep}.log",
    benchmark:
        "<benchmarks>/evals/{run}/rep{rep}.tsv"
    threads: STUDY.evaluation.threads
    resources:
        mem_mb=3000 if SHARDS else LARGE["evaluation"] or 3000,
        runtime=240,
        gpu=0 if SHARDS else GPUS["evaluation"],
    params:
        study=STUDY.name,
        domain=STUDY.domain,
        root_seed=STUDY.root_seed,
        shapes=shapes_of,
        model=lookup(dpath="model", within=PARTS),
        evaluation=lookup(dpath="evaluation", within=PARTS),
        toolbox=lookup(dpath="toolbox", within=PARTS),
        threads=STUDY.evaluation.threads,
        gpus=0 if SHARDS else GPUS["evaluation"],
        code=lookup(dpath="evaluation", within=CODE),
        toolchain=TOOLCHAIN,
    script:
        "../scripts/evaluation.py"


rule budgets:
    input:
        model=model_of,
        cases="<results>/data/cases.jsonl",
        prompts="<results>/data/holdout.parquet",
        engine=ancient(VLLM["evaluation"]),
    output:
        rollouts="<results>/budgets/{run}/rollouts.parquet",
        timings="<results>/budgets/{run}/timings.parquet",
    log:
        "<logs>/budgets/{run}.log",
    benchmark:
        "<benchmarks>/budgets/{run}.tsv"
    threads: STUDY.evaluation.threads
    resources:
        mem_mb=LARGE["evaluation"] or 3000,
        runtime=240,
        gpu=GPUS["evaluation"],
    params:
        study=STUDY.name,
        domain=STUDY.domain,
        root_seed=STUDY.root_seed,
        shapes=shapes_of,
        model=lookup(dpath="model", within=PARTS),
        evaluation=lookup(dpath="evaluation", within=PARTS),
        budgets=list(BUDGETS),
        toolbox=lookup(dpath="toolbox", within=PARTS),
        threads=STUDY.evaluation.threads,
        gpus=GPUS["evaluation"],
        code=lookup(dpath="budgets", within=CODE),
        toolchain=TOOLCHAIN,
    script:
        "../scripts/budgets.py"


rule bands:
    input:
        model="<results>/sft/model",
        cases="<results>/data/cases.jsonl",
        prompts="<results>/data/pool.parquet",
        engine=ancient(VLLM["evaluation"]),
    output:
        bands="<results>/data/bands.parquet",
        rollouts="<results>/probes/bands/rollouts.parquet",
        timings="<results>/probes/bands/timings.parquet",
    log:
        "<logs>/bands.log",
    benchmark:
        "<benchmarks>/bands.tsv"
    threads: STUDY.evaluation.threads
    resources:
        mem_mb=LARGE["evaluation"] or 3000,
        runtime=240,
        gpu=GPUS["evaluation"],
    params:
        study=STUDY.name,
        domain=STUDY.domain,
        root_seed=STUDY.root_seed,
        model=lookup(dpath="model", within=PARTS),
        samples=lookup(dpath="rlvr/pool/samples", within=PARTS, default=None),
        temperature=lookup(dpath="rlvr/temperature", within=PARTS),
        turn_tokens=lookup(dpath="rlvr/turn_tokens", within=PARTS),
        tool_rounds=lookup(dpath="rlvr/tool_rounds", within=PARTS),
        block=lookup(dpath="evaluation/block", within=PARTS),
        engine=lookup(dpath="evaluation/engine", within=PARTS, default=None),
        toolbox=lookup(dpath="toolbox", within=PARTS),
        threads=STUDY.evaluation.threads,
        gpus=GPUS["evaluation"],
        code=lookup(dpath="bands", within=CODE),
        toolchain=TOOLCHAIN,
    script:
        "../scripts/bands.py"
