"""`tiebreak blueprints`: what becomes of specs and traces that others made."""

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from tiebreak.errors import DataError

if TYPE_CHECKING:
    from tiebreak.domains.rust.imports.check import Checked
    from tiebreak.domains.rust.imports.replay import Replayed
    from tiebreak.domains.rust.verdicts import Judge

CHECK = """\
Play every step of every spec with the real tools, confined, and say which specs are cases. FILE holds model replies,
one JSON object a line with custom_id and text (the blueprint's JSON), or blueprints.

A line of the answer: the outcome, the custom_id, and for a rejected one the step (counted from 1; 0 is the spec, the
plan or the crate as a whole) and the errors. With --json: custom_id, outcome, step, errors.

exit status: 0 all were accepted, 1 some were rejected, 2 the file cannot be used.
"""

REPLAY = """\
Play the calls of published traces with our tools and compare the status and the test counts of every reply. FILE holds
one JSON object a line with trace (ChatML text), family, case_id and expected_output. A trace carries no crate: the ones
that do not first read their source, whole, cannot be replayed from themselves and are skipped.

exit status: 0 no difference, 1 some differ or are no traces, 2 the file cannot be used.
"""


def register(subparsers: Any) -> None:
    """Add the command and its two parts to the parser."""
    text = "check specs and replay traces that others made"
    parser = subparsers.add_parser("blueprints", help=text, description=f"{text[0].upper()}{text[1:]}.")
    parts = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, words, description, run in (
        ("check", "which specs of a file are cases, and why the others are not", CHECK, run_check),
        ("replay", "play published traces again and compare", REPLAY, run_replay),
    ):
        part = parts.add_parser(
            name, help=words, description=description, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        part.add_argument("file", metavar="FILE.jsonl", help="the specs" if name == "check" else "the traces")
        part.add_argument("--json", action="store_true", help="print one JSON object a line")
        part.set_defaults(run=run)


def run_check(arguments: argparse.Namespace) -> int:
    """Check the specs and print each outcome. Raises DataError for a file that cannot be used."""
    from tiebreak.domains.rust.imports.check import check
    from tiebreak.domains.rust.imports.rows import read_rows

    rows = read_rows(Path(arguments.file))
    if all(row.error is not None for row in rows):
        first = rows[0]
        raise DataError(f"{arguments.file}: none of its {len(rows)} lines is a spec; {first.name}: {first.error}")
    with _judge() as judge, _bar("specs", len(rows)) as bar:
        found = check(rows, judge, bar.update)
    _show(found, _checked_line, as_json=arguments.json)
    counts = Counter(item["outcome"] for item in found)
    print(f"{counts['accepted']} accepted, {counts['rejected']} rejected", file=sys.stderr)
    return 1 if counts["rejected"] else 0


def run_replay(arguments: argparse.Namespace) -> int:
    """Replay the traces and print each outcome. Raises DataError for a file that cannot be used."""
    from tiebreak.domains.rust.imports.replay import Trace, read_traces, replay

    traces = read_traces(Path(arguments.file))
    turns = sum(len(item.turns) for item in traces if isinstance(item, Trace))
    with _judge() as judge, _bar("turns", turns) as bar:
        found = replay(traces, judge, bar.update)
    if all(item["outcome"] == "unusable" for item in found):
        raise DataError(f"{arguments.file}: none of its {len(found)} lines is a trace; {found[0]['errors'][0]}")
    _show(found, _replayed_line, as_json=arguments.json)
    print(_summary(found), file=sys.stderr)
    return 1 if {"differs", "unusable"} & {item["outcome"] for item in found} else 0


@contextmanager
def _judge() -> "Iterator[Judge]":
    """The verdict engine on all cores, with a cache for as long as the command runs."""
    from tiebreak.domains.rust.verdicts import Judge

    with TemporaryDirectory(prefix="tiebreak-") as folder:
        yield Judge(Path(folder), workers=len(os.sched_getaffinity(0)), diagnostics="short")


def _bar(unit: str, total: int) -> Any:
    from tqdm import tqdm

    return tqdm(total=total, unit=f" {unit}", mininterval=1, leave=False)


def _show(items: "Iterable[Any]", line: Callable[[Any], str], *, as_json: bool) -> None:
    for item in items:
        print(json.dumps(item) if as_json else line(item))


def _checked_line(item: "Checked") -> str:
    name = json.dumps(item["custom_id"], ensure_ascii=False)[1:-1]
    if item["step"] is None:
        return f"{item['outcome']}  {name}"
    errors = (error.removeprefix(f"{item['custom_id']}: ") for error in item["errors"])
    return f"{item['outcome']}  {name}  step {item['step']}  {'; '.join(errors)}"


def _replayed_line(item: "Replayed") -> str:
    name = json.dumps(item["case_id"], ensure_ascii=False)[1:-1]
    return f"{item['outcome']:8}  {name}  {item['calls']} calls" + "".join(f"; {error}" for error in item["errors"])


def _summary(found: "list[Replayed]") -> str:
    counts = Counter(item["outcome"] for item in found)
    reasons = Counter(item["errors"][0] for item in found if item["outcome"] == "skipped")
    skipped = f" (skipped: {', '.join(f'{count} because {why}' for why, count in reasons.items())})" if reasons else ""
    unusable = f"; {counts['unusable']} lines are no traces" if counts["unusable"] else ""
    return (
        f"{counts['same'] + counts['differs']} of {len(found)} replay{skipped}, {sum(item['calls'] for item in found)} "
        f"calls, {counts['differs'] or 'none'} with another status or other test counts{unusable}"
    )
