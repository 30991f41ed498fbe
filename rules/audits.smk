# What the stored rollouts and training records show when looked at again, before anybody reads a p-value.


rule audits:
    input:
        cases="<results>/data/cases.jsonl",
        rollouts=collect(
            "<results>/evals/{run}/rep{rep}/rollouts.parquet",
            run=STUDY.runs,
            rep=STUDY.repetitions,
        ),
        probes=collect("<results>/probes/{run}/rollouts.parquet", run=STUDY.runs),
        groups=collect(
            "<results>/arms/{arm}/seed{seed}/groups.jsonl",
            arm=STUDY.arms,
            seed=STUDY.training_seeds,
        ),
        steps=collect(
            "<results>/arms/{arm}/seed{seed}/steps.jsonl",
            arm=STUDY.arms,
            seed=STUDY.training_seeds,
        ),
    output:
        audits="<results>/audits/audits.json",
        tables=directory("<results>/audits/tables"),
        figures=directory("<results>/audits/figures"),
    log:
        "<logs>/audits.log",
    benchmark:
        "<benchmarks>/audits.tsv"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=20,
        gpu=0,
    params:
        study=STUDY.name,
        domain=STUDY.domain,
        root_seed=STUDY.root_seed,
        shapes=lookup(dpath="arms", within=PARTS),
        statistics=lookup(dpath="statistics", within=PARTS),
        code=lookup(dpath="audits", within=CODE),
        toolchain=TOOLCHAIN,
    script:
        "../scripts/audits.py"
