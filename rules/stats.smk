# From rollouts to numbers: one arm by itself, and all arms against each other.


rule arm:
    input:
        rollouts=collect(
            "<results>/evals/{{arm}}-seed{seed}/rep{rep}/rollouts.parquet",
            seed=STUDY.training_seeds,
            rep=STUDY.repetitions,
        ),
        decisions=collect(
            "<results>/arms/{{arm}}/seed{seed}/decision.json",
            seed=STUDY.training_seeds,
        ),
    output:
        summary="<results>/arms/{arm}/summary.json",
    log:
        "<logs>/arms/{arm}/summary.log",
    benchmark:
        "<benchmarks>/arms/{arm}/summary.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
        gpu=0,
    params:
        study=STUDY.name,
        domain=STUDY.domain,
        root_seed=STUDY.root_seed,
        k=lookup(dpath="evaluation/k", within=PARTS),
        statistics=lookup(dpath="statistics", within=PARTS),
        code=lookup(dpath="arm", within=CODE),
        toolchain=TOOLCHAIN,
    script:
        "../scripts/arm.py"


rule analysis:
    input:
        rollouts=collect(
            "<results>/evals/{run}/rep{rep}/rollouts.parquet",
            run=STUDY.runs,
            rep=STUDY.repetitions,
        ),
        probes=collect("<results>/probes/{run}/rollouts.parquet", run=STUDY.runs),
        decisions=collect(
            "<results>/arms/{arm}/seed{seed}/decision.json",
            arm=STUDY.arms,
            seed=STUDY.training_seeds,
        ),
    output:
        analysis="<results>/stats/analysis.json",
        tables=directory("<results>/stats/tables"),
    log:
        "<logs>/analysis.log",
    benchmark:
        "<benchmarks>/analysis.tsv"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=20,
        gpu=0,
    params:
        study=STUDY.name,
        domain=STUDY.domain,
        root_seed=STUDY.root_seed,
        k=lookup(dpath="evaluation/k", within=PARTS),
        arms=list(STUDY.arms),
        statistics=lookup(dpath="statistics", within=PARTS),
        code=lookup(dpath="analysis", within=CODE),
        toolchain=TOOLCHAIN,
    script:
        "../scripts/analysis.py"
