"""What a benchmark found, kept where README's claims are read from: docs/benchmarks/NAME.json."""

import json
import sys
from pathlib import Path
from typing import Any

from tiebreak.job import write_json
from tiebreak.provenance import git_state, host

KEPT = Path(__file__).parents[1] / "docs" / "benchmarks"
PLACES = ("--results", "--vllm")  # options whose value is a place on one machine: their word stands for it


def keep(name: str, found: dict[str, Any]) -> None:
    """Keep the figures of a benchmark with the command, the commit and the machine that they come from."""
    about = {"benchmark": name, "command": command(name, sys.argv[1:]), **git_state(KEPT.parents[1])}
    machine = {key: value for key, value in host().items() if key != "name"}
    write_json(KEPT / f"{name}.json", about | {"machine": machine} | json.loads(json.dumps(found)))
    print(f"kept in docs/benchmarks/{name}.json; `./dev tiebreak claims --write` puts it into README")


def command(name: str, arguments: list[str]) -> str:
    """The command as another person would give it."""
    words = ["./dev", "python", f"benchmarks/{name}.py", *(word for word in arguments if word != "--keep")]
    for option in PLACES:
        if option in words[:-1]:
            place = words.index(option) + 1
            words[place] = option.removeprefix("--").upper()
    return " ".join(words)
