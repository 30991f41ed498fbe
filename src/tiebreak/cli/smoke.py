"""`tiebreak smoke`: a study in small before money is spent, with a verdict at the end."""

import argparse
import json
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tiebreak.paths import Paths

if TYPE_CHECKING:
    from tiebreak.smoke.part import Line
    from tiebreak.study import Study

STATUS = {"GO": 0, "NO-GO": 1, "NOT KNOWN": 2}


def register(subparsers: Any) -> None:
    """Add the parser of `tiebreak smoke`."""
    text = "try a study in small: data, parity, ties, sandbox, model, one training step"
    note = "exit status 0 for GO, 1 for NO-GO, 2 where something could not be tried; nothing is left in results"
    parser = subparsers.add_parser("smoke", help=text, description=f"{text}; {note}")
    parser.add_argument("--study", required=True, metavar="NAME", help="a name in config/studies or a path")
    parser.add_argument("--results", type=Path, default=Path("results"), metavar="DIR", help="where models may lie")
    parser.add_argument("--json", action="store_true", help="one JSON object at the end: verdict, reason, stages")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print a line a stage as soon as it is done, then the verdict; with --json the same as one object."""
    from tiebreak.cli.doctor import load_study
    from tiebreak.smoke import smoke

    study = load_study(arguments.study)
    here = list(machine(study))
    for line in here:
        tell(line, quiet=arguments.json)
    gpu = not any(line.subject == "gpus" and line.state != "ok" for line in here)
    found = here
    with tempfile.TemporaryDirectory(prefix="tiebreak-smoke-") as folder:
        for line in smoke(study, Paths(study.name, arguments.results), Path(folder), gpu=gpu):
            tell(line, quiet=arguments.json)
            found.append(line)
    verdict, why = judged(found)
    if arguments.json:
        print(json.dumps({"verdict": verdict, "reason": why, "stages": [asdict(line) for line in found]}, indent=1))
    else:
        print(f"{verdict}: {why}")
    return STATUS[verdict]


def machine(study: "Study") -> Iterator["Line"]:
    """What the study asks of its user and of this machine."""
    import torch

    from tiebreak.cli import doctor
    from tiebreak.smoke.part import Line

    for question in study.questions():
        yield Line("study", "no-go", question)
    tools = [doctor.look_at_rust("rustc"), doctor.look_at_rust("cargo"), doctor.look_at_linker()]
    for finding in [doctor.look_at_sandbox(), *(tools if study.domain == "rust" else [])]:
        lacks = finding.state == "missing"
        yield Line(finding.subject, "no-go" if lacks else "ok", f"{finding.found} {finding.mend}".strip())
    needed, here = max(study.gpus("sft"), study.gpus("rlvr"), study.gpus("evaluation")), torch.cuda.device_count()
    if needed:
        yield Line("gpus", "ok" if here >= needed else "no-go", f"{here} here, the largest job takes {needed}")


def tell(line: "Line", *, quiet: bool) -> None:
    """Print a line for people, unless a program reads."""
    if not quiet:
        print(render(line), flush=True)


def render(line: "Line") -> str:
    """A line for people."""
    return f"{line.state:10} {line.subject:8} {line.seconds:6.1f} s  {line.found}"


def judged(lines: "list[Line]") -> tuple[str, str]:
    """The verdict and its reason; what was not tried is no go."""
    stops = [line.subject for line in lines if line.state == "no-go"]
    left = [line.subject for line in lines if line.state == "not tried"]
    if stops:
        return "NO-GO", f"{', '.join(stops)}" + (f" (not tried: {', '.join(left)})" if left else "")
    if left:
        return "NOT KNOWN", f"nothing stops the study, but not tried: {', '.join(left)}"
    return "GO", f"{len(lines)} of {len(lines)} stages went well"
