"""`tiebreak claims`: do README and docs still say what the kept artifacts say?"""

import argparse
import json
from pathlib import Path
from typing import Any

DESCRIPTION = """\
Compare every claim in README.md and docs/*.md with the artifact it comes from (docs/claims.yaml), and look for numbers
that were typed by hand in a results section. Ends with 1 if anything is stale, typed, unused or changed.
"""


def register(subparsers: Any) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser(
        "claims",
        help="do README and docs say what the kept artifacts say?",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--root", type=Path, default=Path(), help="the repository (default: here)")
    parser.add_argument(
        "--write", action="store_true", help="write what the artifacts say, and accept them as they are"
    )
    parser.add_argument("--keep", type=Path, metavar="RESULTS", help="first keep the artifacts of this finished study")
    parser.add_argument("--json", action="store_true", help="one JSON object: problems, retired, claims")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Check, or write. Raises ConfigError and DataError for a list, an artifact or a mark that cannot be used."""
    from tiebreak.report import claim_check, readme

    if args.keep is not None:
        readme.keep(args.keep, args.root)
    if args.write or args.keep is not None:
        for line in claim_check.write(args.root):
            print(line)
    found = claim_check.check(args.root)
    if args.json:
        print(json.dumps(found, ensure_ascii=False, indent=1))
        return 1 if found["problems"] else 0
    for problem in found["problems"]:
        print(problem)
    for item in found["retired"]:
        print(f"retired: {item['name']}: {item['said']}: {item['reason']}")
    print(f"{len(found['claims'])} claims, {len(found['retired'])} retired, {len(found['problems'])} problems")
    return 1 if found["problems"] else 0
