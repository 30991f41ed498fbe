# Tiebreak: a reward-shape study, from blueprints to the report. What a study is stands in config/studies/<name>.yaml.
from snakemake.utils import min_version

min_version("9.13")


configfile: "config/config.yaml"


include: "rules/common.smk"


pathvars:
    results=f"results/{STUDY.name}",
    logs=f"logs/{STUDY.name}",
    benchmarks=f"benchmarks/{STUDY.name}",


wildcard_constraints:
    arm="|".join(STUDY.arms),
    seed="|".join(map(str, STUDY.training_seeds)),
    run="|".join(STUDY.runs),
    rep="|".join(map(str, STUDY.repetitions)),
    shard="|".join(map(str, SHARDS)) or "none",


# The environment is ./dev's or flake.nix's. Snakemake's linter asks for a container all the same, and this line is its
# answer: it is used only with --software-deployment-method apptainer, which we do not.
container: "docker://python:3.11-bookworm"


rule all:
    input:
        report="<results>/report/index.html",
        audits="<results>/audits/audits.json",
        arms=collect("<results>/arms/{arm}/summary.json", arm=STUDY.arms),
        tasks="<results>/data/report/index.html",
        tokens="<results>/data/sft_tokens.json",


rule data:
    input:
        page="<results>/data/report/index.html",
        traces="<results>/data/sft.parquet",
        prompts=collect("<results>/data/{split}.parquet", split=["pool", "holdout"]),
        gates=collect("<results>/gates/{gate}.json", gate=["leakage", "parity"]),
        # with a base that the study makes itself, counting its tokens would train it first
        tokens=branch(not STUDY.model.is_made, then="<results>/data/sft_tokens.json"),


rule evals:
    input:
        rollouts=collect(
            "<results>/evals/{run}/rep{rep}/rollouts.parquet",
            run=STUDY.runs,
            rep=STUDY.repetitions,
        ),


include: "rules/blueprints.smk"
include: "rules/traces.smk"
include: "rules/data_page.smk"
include: "rules/base.smk"
include: "rules/tools.smk"
include: "rules/sft.smk"
include: "rules/rlvr.smk"
include: "rules/evals.smk"
include: "rules/stats.smk"
include: "rules/audits.smk"
include: "rules/report.smk"
include: "rules/publish.smk"


onstart:
    preflight()


onsuccess:
    checks.announce_page(workflow, PATHS)
