"""`tiebreak preflight`: may this release leave?"""

import argparse
import json
from typing import Any

DESCRIPTION = """\
Look at results/<study>/publish/release (made by `snakemake release`) before it is published: are the files and links
there that card, report and README name; are the card's numbers those of the artifacts, and README's (`tiebreak
claims`); are licence and revisions named; is there a token, a path of this machine or a placeholder in it, or
in what goes with the models' weights? Ends with 1 if anything is wrong.
"""


def register(subparsers: Any) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser(
        "preflight",
        help="may this release leave?",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--study", required=True, metavar="NAME", help="a name in config/studies, or a path")
    parser.add_argument("--json", action="store_true", help="a JSON list of problems")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the problems; 1 if there are any. Raises ConfigError, DataError and HubError."""
    from tiebreak.paths import Paths
    from tiebreak.publish.preflight import problems
    from tiebreak.study import load

    found = problems(Paths(load(args.study).name))
    print(
        json.dumps(found, ensure_ascii=False, indent=1) if args.json else "\n".join([*found, f"{len(found)} problems"])
    )
    return 1 if found else 0
