"""A folder like prime-rl's checkout after its installation, with `stand_in` in the place of its `rl`."""

import json
import sys
from pathlib import Path
from typing import Any

from training.test_export import broadcast, trained

from tiebreak.sections.prime_rl import PrimeRl
from tiebreak.sections.rlvr import Rlvr, Trial

ROOT = Path(__file__).parents[3]


def install(tool: Path, model: Path) -> None:
    """Make the folder; the adapter that the program leaves is one of the model in folder `model`."""
    program = tool / ".venv/bin/rl"
    program.parent.mkdir(parents=True)
    path = f"import sys; sys.path[:0] = {[str(ROOT / 'tests'), str(ROOT / 'src')]!r}\n"
    program.write_text(f"#!{sys.executable}\n{path}" + Path(__file__).with_name("stand_in.py").read_text())
    program.chmod(0o755)
    wish(tool, broadcast=str(broadcast(trained(model, tool / "adapter"), tool / "step", model)))


def wish(tool: Path, **words: Any) -> None:
    """Tell the program what to do."""
    path = tool / "stand_in.json"
    path.write_text(json.dumps((json.loads(path.read_text()) if path.exists() else {}) | words))


def part_of(model: Path) -> PrimeRl:
    """The part of a study whose model is the one in folder `model`."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model)
    ids = tuple(tokenizer.convert_tokens_to_ids(["<|im_start|>", "<|im_end|>"]))
    size = json.loads((model / "config.json").read_text())["vocab_size"]
    return PrimeRl(stop_tokens=ids, tokenizer_size=len(tokenizer), vocabulary=size, checkpoint_interval=2)


def plan(part: PrimeRl) -> Rlvr:
    """A training of 6 steps with 3 groups of 2 a step."""
    return Rlvr(trainer="prime-rl", steps=6, group=2, prompts=3, lora_rank=8, trial=Trial(steps=2), prime_rl=part)
