# The way out: one folder that holds a finished study, and its one commit at the hub. No other rule reads this.


rule release:
    input:
        cards=CARDS,
        report="<results>/report/index.html",
        audits="<results>/audits/audits.json",
        tokens="<results>/data/sft_tokens.json",
        arms=collect("<results>/arms/{arm}/summary.json", arm=STUDY.arms),
        models=MODELS,
    output:
        release=directory("<results>/publish/release"),
        cards=directory("<results>/publish/models"),
    log:
        "<logs>/release.log",
    benchmark:
        "<benchmarks>/release.tsv"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
        gpu=0,
    params:
        study=STUDY.name,
        asked=config["study"],
        parts=PARTS,
        runs=STUDY.runs,
        repetitions=STUDY.repetitions,
        code=lookup(dpath="release", within=CODE),
        toolchain=TOOLCHAIN,
    script:
        "../scripts/release.py"


# It talks to the hub with the user's token, so it runs where the user is, and hands the token to no job.
localrules:
    publish,


rule publish:
    input:
        release="<results>/publish/release",
        cards="<results>/publish/models",
        models=MODELS,
    output:
        receipt="<results>/publish/receipt.json",
    log:
        "<logs>/publish.log",
    benchmark:
        "<benchmarks>/publish.tsv"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=240,
        gpu=0,
    params:
        study=STUDY.name,
        asked=config["study"],
        publish=lookup(dpath="publish", within=PARTS),
        hub=HUB,
        code=lookup(dpath="publish", within=CODE),
        toolchain=TOOLCHAIN,
    script:
        "../scripts/publish.py"
