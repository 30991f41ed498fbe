# The page that people read, and the rollouts behind its numbers: computed, never typed.


rule report:
    input:
        pages=PAGES,
        analysis="<results>/stats/analysis.json",
        gates=collect("<results>/gates/{gate}.json", gate=["leakage", "parity"]),
        ties=collect("<results>/gates/ties/{arm}.json", arm=STUDY.arms),
        decisions=collect(
            "<results>/arms/{arm}/seed{seed}/decision.json",
            arm=STUDY.arms,
            seed=STUDY.training_seeds,
        ),
        steps=collect(
            "<results>/arms/{arm}/seed{seed}/steps.jsonl",
            arm=STUDY.arms,
            seed=STUDY.training_seeds,
        ),
        groups=collect(
            "<results>/arms/{arm}/seed{seed}/groups.jsonl",
            arm=STUDY.arms,
            seed=STUDY.training_seeds,
        ),
        audits="<results>/audits/audits.json",
        sft="<results>/sft/record.json",
        rollouts=collect(
            "<results>/evals/{run}/rep{rep}/rollouts.parquet",
            run=STUDY.runs,
            rep=STUDY.repetitions,
        ),
        probes=collect("<results>/probes/{run}/rollouts.parquet", run=STUDY.runs),
        budgets=branch(
            BUDGETS,
            then=collect("<results>/budgets/{run}/rollouts.parquet", run=STUDY.runs),
        ),
    output:
        page=report(
            "<results>/report/index.html",
            caption="../resources/captions/page.rst",
            category="Study",
            labels={"study": STUDY.name, "what": "report"},
        ),
        viewer="<results>/report/viewer.html",
        rollouts=directory("<results>/report/rollouts"),
        figures=directory("<results>/report/figures"),
        tables=directory("<results>/report/tables"),
    log:
        "<logs>/report.log",
    benchmark:
        "<benchmarks>/report.tsv"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=20,
        gpu=0,
    params:
        study=STUDY.name,
        domain=STUDY.domain,
        asked=config["study"],
        root_seed=STUDY.root_seed,
        shapes=lookup(dpath="arms", within=PARTS),
        epochs=lookup(dpath="sft/epochs", within=PARTS),
        gpus_of=GPUS,
        code=lookup(dpath="report", within=CODE),
        toolchain=TOOLCHAIN,
    script:
        "../scripts/report.py"
