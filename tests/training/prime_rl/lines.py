"""Lines as prime-rl writes them: the colours are those that loguru made of its `setup_logger` at the pinned commit."""

COLOURS = {"INFO": "\x1b[1m", "SUCCESS": "\x1b[32m\x1b[1m", "WARNING": "\x1b[33m\x1b[1m", "ERROR": "\x1b[31m\x1b[1m"}
END = "\x1b[0m"


def line(message: str, level: str = "INFO", clock: str = "21:39:12") -> str:
    """A line of a log, without its end."""
    colour = COLOURS[level]
    return f"\x1b[2m{clock}{END} {colour}{level: >7}{END} {colour}\x1b[22m{message}{END}{END}"


def step(number: int, seconds: float, reward: float, length: float, off_policy: int = 0) -> str:
    """The orchestrator's step line (orchestrator.py, `step_message`)."""
    return line(
        f"Step {number} | Time: {seconds:.2f}s | Reward: {reward:.4f} | Seq. Length: {length:.1f} tokens/sample | "
        f"Max. Off-Policy Level: {off_policy}",
        "SUCCESS",
    )


def detected(batch: int, **counts: int) -> str:
    """The line of the filters (filters.py, `apply_filters`), all of them enforced."""
    total = sum(counts.values())
    named = ", ".join(f"{name}={count}" for name, count in counts.items() if count)
    return line(f"Detected {total}/{batch} rollouts ({named}), enforced {total}")


def examples(count: int) -> str:
    """orchestrator.py, before the teacher is asked."""
    return line(f"Computing teacher logprobs for {count} training examples")


def empty(attempt: int, step: int, batch: int = 96) -> str:
    """orchestrator.py, after a batch was dropped whole."""
    start = f"Attempt {attempt}/3 at step {step} filtered out all {batch} rollouts - "
    return (
        line(start + "crashing orchestrator", "ERROR")
        if attempt == 3
        else line(start + "retrying batch generation", "WARNING")
    )


def paused(checkpoint: int) -> str:
    """scheduler.py, `_apply_policy_update`."""
    return line(
        f"Orchestrator paused: waiting for trainer process to complete checkpoint {checkpoint} (>1 step(s) ahead). "
        "Training is progressing normally."
    )


def resumed(checkpoint: int, seconds: float) -> str:
    """scheduler.py, `_apply_policy_update`."""
    return line(f"Orchestrator resumed: checkpoint {checkpoint} ready (after {seconds:.2f}s)")


def trained(number: int, seconds: float, loss: float = 0.0123) -> str:
    """trainer/rl/train.py, `step_message`, behind torchrun's name of the process."""
    message = (
        f"Step {number} | Time: {seconds:.2f}s | Loss: {loss:.4f} | Entropy: 0.2345 | Mismatch KL: 0.0004 | "
        "Grad. Norm: 0.1200 | LR: 1.00e-06 | Throughput: 5123 tokens/s | MFU: 31.2% | Peak Mem.: 61.3 GiB"
    )
    return "[trainer0]:" + line(message, "SUCCESS")
