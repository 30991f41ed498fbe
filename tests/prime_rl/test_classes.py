"""The files of the glyph study against prime-rl's own configuration classes. Needs a checkout:

    ./dev pytest tests/prime_rl --prime-rl=CHECKOUT [--prime-rl-python=PYTHON]

CHECKOUT is prime-rl at the commit that the study names, PYTHON a Python 3.12 that has `prime-pydantic-config==0.4.3`,
`tomli` and `tomli-w` (the default is CHECKOUT/.venv/bin/python). Skipped without one; no GPU is needed.
With `=`: after a space pytest takes the checkout for a folder of tests, as it has some.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from training.prime_rl.test_config import FILTERS, PUBLISHED, flat

from tiebreak.study import load
from tiebreak.training.prime_rl.config import build, of_study, text

ROOT = Path(__file__).parents[2]
# What prime-rl itself fills in or passes on from one part to another.
RESOLVED = {
    "trainer.max_steps": 30,
    "orchestrator.max_steps": 30,
    "trainer.ckpt.interval": 5,
    "orchestrator.ckpt.interval": 5,
    "orchestrator.num_train_workers": 2,
    "orchestrator.train.env.0.sampling.temperature": 0.8,
    "orchestrator.train.env.0.sampling.max_completion_tokens": 4000,
    "orchestrator.train.env.0.sampling.seed": None,
    "orchestrator.train.env.0.sampling.extra_body.stop_token_ids": [151644, 151645],
    "inference.enable_lora": True,
    "inference.max_lora_rank": 64,
    "teacher_inference.enable_lora": False,
    "trainer.weight_broadcast.type": "filesystem",
    "orchestrator.weight_broadcast.type": "filesystem",
    "inference.weight_broadcast.type": "filesystem",
    "trainer.model.lora.modules_to_save": [],
    "teacher_inference.parallel.dp": 1,
    "inference.parallel.dp": 1,
}


@pytest.fixture(scope="module")
def command(pytestconfig: pytest.Config) -> tuple[list[str], dict[str, str]]:
    """The command that validates a file, and its environment."""
    checkout = pytestconfig.getoption("--prime-rl")
    if checkout is None:
        pytest.skip("needs a checkout of prime-rl: --prime-rl PATH")
    python = pytestconfig.getoption("--prime-rl-python") or Path(checkout) / ".venv/bin/python"
    source = Path(checkout) / "packages/prime-rl-configs/src"
    assert source.is_dir(), f"{source} is not there: --prime-rl takes a checkout of prime-rl"
    return [str(python), str(Path(__file__).with_name("validate.py"))], os.environ | {"PYTHONPATH": str(source)}


def resolved(command: tuple[list[str], dict[str, str]], path: Path) -> dict[str, Any]:
    """What prime-rl makes of a file."""
    done = subprocess.run([*command[0], str(path)], env=command[1], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return dict(flat(json.loads(done.stdout)))


@pytest.mark.parametrize("resume", [None, 5])
@pytest.mark.parametrize("arm", ["sparse", "dense", "compiler"])
def test_prime_rl_takes_the_file_and_resolves_it_as_published(
    command: tuple[list[str], dict[str, str]], tmp_path: Path, arm: str, resume: int | None
) -> None:
    path = tmp_path / "rl.toml"
    path.write_text(text(build(of_study(load("glyph", ROOT), arm, 0), until=30, resume=resume)))
    found = resolved(command, path)
    expected = PUBLISHED | RESOLVED | {"trainer.ckpt.resume_step": resume, "orchestrator.ckpt.resume_step": resume}
    assert {place: found.get(place, "absent") for place in expected} == expected
    filters = [
        {key: found[f"orchestrator.filters.{number}.{key}"] for key in filter} for number, filter in enumerate(FILTERS)
    ]
    assert filters == FILTERS
    bias = {place.rpartition(".")[2] for place in found if ".env.0.sampling.extra_body.logit_bias." in place}
    assert bias == {str(token) for token in range(151669, 151936)}
    names = {found[place] for place in found if place.endswith(("model.name", "tokenizer.name"))}
    assert len(names) == 1, "student, trainer and teacher load one and the same folder"


def test_prime_rl_refuses_what_it_does_not_know(command: tuple[list[str], dict[str, str]], tmp_path: Path) -> None:
    path = tmp_path / "rl.toml"
    path.write_text(text(build(of_study(load("glyph", ROOT), "dense", 0), until=30)).replace("max_steps", "most_steps"))
    done = subprocess.run([*command[0], str(path)], env=command[1], capture_output=True, text=True)
    assert done.returncode != 0 and "most_steps" in done.stderr
