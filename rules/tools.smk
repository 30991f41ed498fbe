# What is installed beside the project for one backend or engine, where a study asks for it.


rule prime_rl:
    output:
        installed=PRIME_RL or "results/.tools/prime-rl/installed.json",
    log:
        "<logs>/prime_rl.log",
    benchmark:
        "<benchmarks>/prime_rl.tsv"
    threads: 1
    resources:
        mem_mb=8000,
        runtime=120,
        gpu=0,
    params:
        study=STUDY.name,
        commit=lookup(dpath="rlvr/prime_rl/commit", within=PARTS, default=None),
        code=lookup(dpath="prime_rl", within=CODE),
        toolchain=TOOLCHAIN,
    script:
        "../scripts/prime_rl.py"


rule vllm_server:
    input:
        lock=ancient(VLLM_LOCK),
    output:
        installed=str(vllm(file_digest(ROOT / VLLM_LOCK))),
    log:
        "<logs>/vllm_server.log",
    benchmark:
        "<benchmarks>/vllm_server.tsv"
    threads: 1
    resources:
        mem_mb=8000,
        runtime=60,
        gpu=0,
    params:
        study=STUDY.name,
        code=lookup(dpath="vllm_server", within=CODE),
    script:
        "../scripts/vllm_server.py"
