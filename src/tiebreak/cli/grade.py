"""`tiebreak grade`: would these final files of a rollout be graded as a solution of their case?"""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tiebreak.cli.texts import add_blueprint, read_blueprint, show_grade
from tiebreak.errors import BlueprintError

if TYPE_CHECKING:
    from tiebreak.domains.rust.blueprints import Blueprint
    from tiebreak.domains.rust.grading import Grade

DESCRIPTION = """\
Grade the final files of a rollout, as an evaluation does: their code without its tests goes into the pristine crate of
the blueprint and sits an exam there (the visible tests, and hidden checks if the case has any), compiled and run under
bubblewrap. Nothing is written to the folder.
"""

DETAILS = """\
DIR holds Cargo.toml and src/ as the rollout left them. Of these the sources of the blueprint are read, and nothing
else: no other file, no test part, no manifest reaches the grade. A source that is a link, no plain file, larger than
1 MB or no UTF-8 makes it not graded.

Where a case's task is a call and no repair (the families test_only and run_only) the files are all that can be judged
here; the grade of a rollout also asks for a cargo call that succeeded, see `tiebreak replay`.

exit status: 0 graded, 1 not graded (the reasons are printed), 2 it could not be found out.

example:
  tiebreak grade --blueprint results/laptop/data/cases.jsonl --case CASE_ID --crate my-solution/
"""


def register(subparsers: Any) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser(
        "grade",
        help="grade the final files of a rollout",
        description=DESCRIPTION,
        epilog=DETAILS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_blueprint(parser)
    parser.add_argument("--crate", required=True, metavar="DIR", help="the folder with the final files")
    parser.add_argument("--json", action="store_true", help="print one JSON object: case_id, graded, reasons")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the grade; 0 if it is one, else 1. DataError or BlueprintError where files or blueprint cannot be used."""
    blueprint = read_blueprint(arguments.blueprint, arguments.case)
    try:
        verdict = grade_folder(blueprint, Path(arguments.crate))
    except BlueprintError as error:
        raise BlueprintError(f"{arguments.blueprint}: {error}") from error
    if arguments.json:
        found = {"case_id": blueprint.case_id, "graded": verdict.graded, "reasons": list(verdict.reasons)}
        print(json.dumps(found))
    else:
        show_grade(verdict.graded, verdict.reasons)
    return 0 if verdict.graded else 1


def grade_folder(blueprint: "Blueprint", folder: Path) -> "Grade":
    """The grade of the final files in `folder`. DataError where there is no crate."""
    from tiebreak.domains.rust.crate import SOURCES
    from tiebreak.domains.rust.crate_folder import read_crate_folder
    from tiebreak.domains.rust.grading import Grade, grade
    from tiebreak.domains.rust.verdicts import Judge

    found = read_crate_folder(folder, [path for path in SOURCES if path in blueprint.files])
    if found.unreadable:
        return Grade(False, found.unreadable)
    return grade(Judge(None), [(blueprint, found.files)])[0]
