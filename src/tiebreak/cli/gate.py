"""`tiebreak gate`: why an arm is a go or a no-go, in three sentences, from the records of its gates."""

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tiebreak.paths import Paths

if TYPE_CHECKING:
    from tiebreak.standing import Standing

STATUS = {"go": 0, "no-go": 1, "open": 2}


def register(subparsers: Any) -> None:
    """Add the parser of `tiebreak gate`."""
    text = "why an arm is a go or a no-go: prompt parity, dead components, ties"
    note = "exit status 0 for a go, 1 for a no-go, 2 where something has not been measured yet or cannot be read"
    parser = subparsers.add_parser("gate", help=text, description=f"{text}; {note}")
    parser.add_argument("--study", required=True, metavar="NAME", help="a name in config/studies or a path")
    parser.add_argument("--arm", required=True, metavar="ARM", help="an arm of the study")
    parser.add_argument("--results", type=Path, default=Path("results"), metavar="DIR", help="where results lie")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the verdict, its sentences, and what is missing."""
    from tiebreak.cli.doctor import load_study
    from tiebreak.job_domain import opened
    from tiebreak.preflight import check_arm
    from tiebreak.standing import standing

    study = load_study(arguments.study)
    check_arm("--arm", arguments.arm, study)
    paths, parts = Paths(study.name, arguments.results), study.parts()
    domain = opened(study.domain, parts["toolbox"], parts["arms"], workers=1)
    found = standing(study, arguments.arm, domain, paths)
    if arguments.json:
        verdict = {"study": study.name, "arm": found.arm, "verdict": found.verdict}
        print(json.dumps(verdict | {"parts": [asdict(part) for part in found.parts]}, indent=2, ensure_ascii=False))
    else:
        print("\n".join(lines(found, arguments.study)))
    return STATUS[found.verdict]


def lines(found: "Standing", asked: str) -> list[str]:
    """The verdict, a sentence for each gate, and the command that measures what is missing."""
    verdict = "not decided yet" if found.verdict == "open" else found.verdict
    shown = [f"{found.arm}: {verdict}", *(part.text for part in found.parts)]
    targets = next((part.targets for part in reversed(found.parts) if part.targets), ())
    if targets:  # a trial needs the gates before it, so its target makes them too
        command = f"./dev snakemake --cores all {' '.join(targets)} --config study={asked}"
        shown.append(f"To measure what is missing: {command}")
    return shown
