# The page that people read: computed, never typed.


rule report:
    input:
        template="src/tiebreak/report/page.html.j2",
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
    output:
        page=report(
            "<results>/report/index.html",
            caption="../resources/captions/page.rst",
            category="Study",
            labels={"study": STUDY.name, "what": "report"},
        ),
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
        code=lookup(dpath="report", within=CODE),
        toolchain=TOOLCHAIN,
    script:
        "../scripts/report.py"
