"""`tiebreak compare`: do two stored evaluations of the same cases differ, and by how much could they have?"""

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

DESCRIPTION = """\
Compare evaluation B with evaluation A on the same cases: solved cases at k and pass@1, each with an exact paired
sign-flip test over cases and over clusters of cases, the minimal detectable effect, and the noise floor where
repetitions are there.

An evaluation is a rollouts table of ours (.parquet), the same as JSON lines (.jsonl, .jsonl.zst), or the published
layout (.json: a list of rows with name, k and valid_trace_solves or valid_solves, maybe rollouts). It may also be a
folder of repetitions, or several files joined by commas: repetitions of one arm, which are pooled.

Differences are B − A. Cases are clustered by the recorded template where both evaluations have it, or by --clusters.
"""


def register(subparsers: Any) -> None:
    """Add the parser of `tiebreak compare`."""
    parser = subparsers.add_parser(
        "compare",
        help="compare two stored evaluations of the same cases",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("a", metavar="A", help="the evaluation to compare with")
    parser.add_argument("b", metavar="B", help="the evaluation that is compared")
    parser.add_argument(
        "--clusters", metavar="FILE.json", type=Path, help='name patterns: {"families": [[name, pattern]]}'
    )
    parser.add_argument(
        "--outcome", choices=("graded", "valid", "success"), help="default: graded if both know it, else valid"
    )
    parser.add_argument("--alpha", type=level, default=0.05, help="the level of the detectable effect (default: 0.05)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def level(text: str) -> float:
    """A number between 0 and 1."""
    value = float(text)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 1; 0.05 is usual")
    return value


def run(arguments: argparse.Namespace) -> int:
    """Print the comparison. Raises DataError for evaluations that cannot be read or must not be compared."""
    from tiebreak.stats.clusters import read_patterns
    from tiebreak.stats.compare import compare
    from tiebreak.stats.stored import load

    found = compare(
        load(arguments.a),
        load(arguments.b),
        patterns=None if arguments.clusters is None else read_patterns(arguments.clusters),
        source=f"name patterns of {arguments.clusters}",
        outcome=arguments.outcome,
        alpha=arguments.alpha,
    )
    print(json.dumps(found, indent=2) if arguments.json else "\n".join(render(found)))
    return 0


def render(found: Mapping[str, Any]) -> Iterator[str]:
    """The comparison in lines for people."""
    for side in ("a", "b"):
        yield f"{side.upper()}  {described(found[side], found)}"
    yield ""
    solved = found["solved"]
    if solved is not None:
        yield f"{solved['measure']}, cases of {found['cases']}: {whole(solved['delta'])} {changed(solved)}"
        yield from indented(tests(solved, lambda effect: f"{effect:.1f} cases", found))
    rates = found["pass_at_1"]
    yield f"pass@1: {rates['delta']:+.4f} {changed(rates)}"
    yield from indented(tests(rates, lambda effect: f"{effect:.3f}", found))
    yield f"clusters: {found['clusters']['source']}"
    yield f"noise floor: {floor(found['noise'])}"
    yield from (f"note: {note}" for note in found["notes"])


def described(side: Mapping[str, Any], found: Mapping[str, Any]) -> str:
    """One evaluation in a line."""
    solved = " · ".join(map(str, side["solved"]))
    rate = "–" if side["pass_at_1"] is None else f"{side['pass_at_1']:.4f}"
    errors = f", {side['errors']} errors" if side["errors"] else ""
    measure = f"{solved} cases {found['outcome']}@{found['k']}"
    return f"{side['name']}: {measure}, pass@1 {rate}, {side['samples']} samples{errors}"


def changed(part: Mapping[str, Any]) -> str:
    """How many cases moved."""
    return f"({part['up']} up, {part['down']} down)"


def whole(delta: float) -> str:
    """A difference of cases with its sign."""
    return f"{delta:+d}" if isinstance(delta, int) else f"{delta:+.2f}"


def tests(part: Mapping[str, Any], form: Any, found: Mapping[str, Any]) -> Iterator[str]:
    """Both tests of a difference, and the least effect that would probably have been found."""
    yield f"over {part['over_cases']['units']} cases: {tested(part['over_cases'])}"
    if part["over_clusters"] is not None:
        yield f"over {part['over_clusters']['units']} clusters: {tested(part['over_clusters'])}"
    effect = "none: nothing varies" if part["detectable"] is None else form(part["detectable"])
    yield f"detectable with {100 * found['power']:.0f} % power at alpha {found['alpha']:g}: {effect}"


def tested(test: Mapping[str, Any]) -> str:
    """A p-value, how it was had, and the least one that this many moved units can give."""
    from tiebreak.stats.sentences import p_value

    how = "exact" if test["exact"] else f"{test['draws']} draws, standard error {test['error']:.1e}"
    least = f"{test['smallest_p']:.4f}" if test["smallest_p"] >= 1e-4 else f"{test['smallest_p']:.1e}"
    return f"{p_value(test['p'], bound=test['bound'])} ({how}; {test['moved']} moved, so at least {least})"


def floor(noise: Mapping[str, Any] | None) -> str:
    """What repetitions of one run differ by."""
    if noise is None:
        return "not known, neither side has two repetitions of a run"
    return (
        f"two repetitions of a run disagree on {noise['mean_flips']:.1f} of {noise['cases']} cases on average (at most "
        f"{noise['most_flips']}), a net change of up to {noise['net_by_chance']} by chance"
    )


def indented(lines: Iterator[str]) -> Iterator[str]:
    """Lines that belong to the one above."""
    return (f"    {line}" for line in lines)
