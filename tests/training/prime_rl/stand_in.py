"""A program in the place of prime-rl's `rl`: it reads the real file and leaves the files and logs that prime-rl leaves.

It trains nothing. `stand_in.json` in its tool folder says which adapter to leave and where to misbehave: `die` ends it
with status 1 in that step, after the orchestrator saved a checkpoint that the trainer has not; `tie` makes every batch
from that step on a tied one.
"""

import json
import shutil
import sys
import time
import tomllib
from pathlib import Path

from training.prime_rl import lines

CONFIG = Path(sys.argv[2])
RL = tomllib.loads(CONFIG.read_text())
OUT = Path(RL["output_dir"])
RUN = OUT / "run_default"
WISH = json.loads((Path(sys.argv[0]).parents[2] / "stand_in.json").read_text())
SIZE, BATCH = RL["orchestrator"]["rollouts_per_example"], RL["orchestrator"]["batch_size"]


def say(name: str, *texts: str) -> None:
    """Append lines to a log."""
    with (OUT / "logs" / f"{name}.log").open("a") as log:
        log.write("".join(text + "\n" for text in texts))


def rollouts(step: int) -> None:
    """The stored rollouts of a step: the first group is tied, the others not."""
    path = RUN / "rollouts" / f"step_{step}" / "train_rollouts.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = []
    for number in range(BATCH):
        case, sample = divmod(number, SIZE)
        solved = case > 0 and sample == 0
        rows.append(
            {
                "example_id": case,
                "prompt": [{"role": "user", "content": "Fix it."}],
                "completion": [{"role": "assistant", "content": "FINAL: done"}],
                "reward": 8.0 if solved else -1.0,
                "metrics": {
                    "valid": float(solved),
                    "success": float(solved),
                    "graded": float(solved),
                    "term_valid": 8.0 * solved,
                },
                "info": json.dumps({"case_id": f"case_{case}", "family": "test_only", "template": "bands"}),
                "stop_condition": "final",
                "token_usage": {"input_tokens": 100.0, "output_tokens": 10.0 + sample},
            }
        )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def save(step: int, *, trainer: bool) -> None:
    """The checkpoint of both parts, or of the orchestrator alone, and the broadcast."""
    state = RUN / "checkpoints" / f"step_{step}" / "orchestrator" / "buffer"
    state.mkdir(parents=True, exist_ok=True)
    (state / "rollout_buffer.jsonl").touch()
    if trainer:
        broadcast = RUN / "broadcasts" / f"step_{step}"
        shutil.copytree(WISH["broadcast"], broadcast, dirs_exist_ok=True)
        config = json.loads((broadcast / "adapter_config.json").read_text())
        named = config | {"base_model_name_or_path": RL["trainer"]["model"]["name"]}
        (broadcast / "adapter_config.json").write_text(json.dumps(named))
        folder = OUT / "checkpoints" / f"step_{step}" / "trainer"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ".metadata").touch()


def main() -> None:
    """Go through the steps."""
    (OUT / "logs").mkdir(parents=True, exist_ok=True)
    for name in ("orchestrator", "trainer"):
        (OUT / "logs" / f"{name}.log").write_text("")
    start, last = RL["ckpt"].get("resume_step", 0), RL["max_steps"]
    for step in range(start, last):
        if WISH.get("tie") is not None and step >= WISH["tie"]:
            for attempt in (1, 2, 3):
                say("orchestrator", lines.detected(BATCH, zero_advantage=BATCH), lines.empty(attempt, step, BATCH))
            time.sleep(600)
        rollouts(step)
        say("orchestrator", lines.detected(BATCH, zero_advantage=SIZE), lines.examples(BATCH - SIZE))
        say("orchestrator", lines.step(step, 20.0, 1.5, 900.0))
        say("trainer", lines.trained(step, 10.0))
        if step == WISH.get("die"):
            save(step + 1, trainer=False)
            say("orchestrator", lines.line("Fatal error in orchestrate", "ERROR"))
            sys.exit(1)
        if (step + 1) % RL["ckpt"]["interval"] == 0 or step + 1 == last:
            save(step + 1, trainer=True)


main()
