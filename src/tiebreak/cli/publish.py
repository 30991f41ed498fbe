"""`tiebreak publish`: what a release would change at the hub, and the release itself."""

import argparse
import json
from dataclasses import asdict
from typing import Any

DESCRIPTION = """\
Bring the hub to the state of results/<study>/publish/release (made by `snakemake release`): one commit a repository,
none where nothing differs. --dry-run only says what it would be. The token is read from HF_TOKEN, the hub's address
from HF_ENDPOINT. The rule `publish` does the same after a preflight, and makes the study first.
"""


def register(subparsers: Any) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser(
        "publish",
        help="what would a release change at the hub? (and the release itself)",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--study", required=True, metavar="NAME", help="a name in config/studies, or a path")
    parser.add_argument("--dry-run", action="store_true", help="say what would change, and change nothing")
    parser.add_argument("--over", metavar="COMMIT", help="replace this head of a remote that others changed")
    parser.add_argument("--json", action="store_true", help="the plan, or the receipt, as JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the plan, or publish and print the receipt. Raises HubError and ConfigError."""
    from tiebreak.paths import Paths
    from tiebreak.publish.access import client
    from tiebreak.publish.preflight import require_fit
    from tiebreak.publish.publishing import check_named, differences, lines, publish, targets, told
    from tiebreak.study import load

    study = load(args.study)
    paths = Paths(study.name)
    check_named(study)
    if args.dry_run:
        found = differences(client(), list(targets(study, paths).values()))
        shown = [
            {"repo": item.target.repo, "kind": item.target.kind, "head": item.state and item.state.head}
            | asdict(item.plan)
            for item in found
        ]
        print(json.dumps(shown, indent=1) if args.json else "\n".join(lines(found, private=study.publish.private)))
        return 0
    require_fit(paths)
    receipt = publish(client(), study, paths, over=args.over)
    print(json.dumps(receipt, indent=1) if args.json else "\n".join(told(receipt)))
    return 0
