"""`tiebreak verify`: a published study, computed again from its dataset alone."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tiebreak.errors import ConfigError

if TYPE_CHECKING:
    from tiebreak.publish.verdicts import Verdict

DESCRIPTION = """\
Check a release from its dataset and nothing else: files and records against each other; seeds, prompts, outcomes and
rewards of every rollout; gates, tables, tests, audits, figures, page, card and crate, computed again and compared.
Stops with 1 at the first difference, and names it; with --keep-going every check goes on to its own first.

Each line is a verdict: bit-exact; rounding (numbers that differ by less than 1e-9 of their size); statistical (another
draw, inside what repetitions differ by); not re-run, with the reason; noted; differs.
"""
SAMPLE = "200"


def register(subparsers: Any) -> None:
    """Add the parser of `tiebreak verify`."""
    parser = subparsers.add_parser(
        "verify",
        help="check a published study from its dataset alone",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("release", metavar="PATH_OR_REPO", help="the folder of a release, or a hub dataset, owner/name")
    parser.add_argument("--revision", metavar="COMMIT", help="the dataset's commit (default: its newest)")
    parser.add_argument(
        "--regrade",
        metavar="all|N|none",
        default=SAMPLE,
        type=how_many,
        help=f"how many stored rollouts are played again in the sandbox (default: {SAMPLE} drawn at random); "
        "all also runs every case and trace again",
    )
    parser.add_argument(
        "--seed", metavar="N", type=int, help="what the rollouts are drawn with (default: a new one, which is printed)"
    )
    parser.add_argument("--models", metavar="FOLDER", type=Path, help="a folder with a folder for each run's model")
    parser.add_argument(
        "--rerun", metavar="ARM", help="sample repetition 0 of an arm's first run again, with its model"
    )
    parser.add_argument("--keep-going", action="store_true", help="go on after the first difference")
    parser.add_argument(
        "--digest", action="store_true", help="only print the science digest of a study's results (results/STUDY)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def how_many(text: str) -> int | None:
    """`all` is None, `none` is 0, else a number."""
    named = {"all": None, "none": 0}
    if text in named:
        return named[text]
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not all, none or a number of rollouts; 200 is usual")
    return int(text)


def run(arguments: argparse.Namespace) -> int:
    """Print the verdicts; 1 where one fails. Raises DataError for what is no release."""
    from tiebreak.publish.fetching import folder_of
    from tiebreak.publish.verify import Options, verify

    if arguments.digest:
        return digest(Path(arguments.release))
    release = folder_of(arguments.release, arguments.revision)
    options = Options(arguments.regrade, arguments.models, arguments.rerun, arguments.seed)
    found: list[Verdict] = []
    for verdict in verify(release, options):
        found.append(verdict)
        if not arguments.json:
            print(line(verdict), flush=True)
        if verdict.fails and not arguments.keep_going:
            break
    if arguments.json:
        print(json.dumps({"release": str(arguments.release), "verdicts": [one.plain() for one in found]}, indent=1))
    else:
        print(*closing(found), *other_version(release, found), sep="\n")
    return int(any(one.fails for one in found))


def digest(root: Path) -> int:
    """Print the science digest of the results in `root`."""
    from tiebreak.paths import Paths
    from tiebreak.publish.records import behind, unchanged
    from tiebreak.publish.science import science_digest

    paths = Paths(root.resolve().name, Path("results"))
    if root.resolve() != paths.root.resolve():
        raise ConfigError(f"{root}: run this where results/ lies, with --digest results/{root.name}")
    names = [path.relative_to(paths.root).as_posix() for path in unchanged(behind(paths))]
    print(science_digest(paths.root, names))
    return 0


def other_version(release: Path, found: Sequence["Verdict"]) -> list[str]:
    """What to do about a difference that another version of this code may have made: it words texts in its own way."""
    from tiebreak.patches import git
    from tiebreak.publish.manifest import read
    from tiebreak.publish.replay import ROOT

    made, here = read(release).commit, git(ROOT, "rev-parse", "HEAD")
    if made in (None, here) or not any(one.fails for one in found):
        return []
    return [f"the release is of commit {made}, this is {here or 'unknown'}: verify it in a checkout of that commit"]


def line(verdict: "Verdict") -> str:
    """A verdict in a line."""
    count = "" if verdict.count is None else f" ({verdict.count:,})"
    return f"{verdict.state:11} {verdict.subject}{count}{': ' if verdict.detail else ''}{verdict.detail}"


def closing(found: Sequence["Verdict"]) -> list[str]:
    """How many of each verdict there are, and the first that fails."""
    states = [verdict.state for verdict in found]
    summary = ", ".join(f"{states.count(state)} {state}" for state in dict.fromkeys(states))
    failed = next((verdict for verdict in found if verdict.fails), None)
    return ["", summary, "verified" if failed is None else f"NOT verified; first difference: {failed.detail}"]
