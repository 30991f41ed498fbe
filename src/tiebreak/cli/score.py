"""`tiebreak score`: what would these rewards have paid for stored transcripts?"""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from tiebreak.errors import ConfigError, DataError

if TYPE_CHECKING:
    from tiebreak.domains.rust.rewards import RewardTable

DESCRIPTION = """\
Re-score stored transcripts of the Rust domain under any reward shapes.

FILE holds one JSON object a line: id (a string), turns (a list of {role, content}) and tool_budget_exhausted (true or
false); other keys are passed over, and so are turns whose role is neither assistant nor tool.
"""

PROFILES = """\
profiles: whose facts the shaping terms rest on. `published`, the default here, repeats the published scorer, which was
made for text. `true` is what Tiebreak's own arms are trained with; from text alone it is a best effort: a wrong output
and a timeout count as compiled, E0106 is a type error, E0373 E0381 E0384 E0596 are borrow errors, and only stderr is
believed; but errors behind a cut and text that imitates the compiler can mislead it, which verdicts cannot be.
"""


class Scored(TypedDict):
    """One line of the answer."""

    id: str
    reward: dict[str, float]
    terms: dict[str, dict[str, float]]
    valid: bool


def register(subparsers: Any) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser(
        "score",
        help="re-score stored transcripts under any reward shapes",
        description=DESCRIPTION,
        epilog=PROFILES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE.jsonl", help="the transcripts, or - for standard input")
    parser.add_argument("--shapes", metavar="A,B", help="names of shapes (default: all that are known)")
    parser.add_argument("--study", metavar="NAME", help="take shapes from this study's arms (a name or a path)")
    parser.add_argument(
        "--table",
        action="append",
        default=[],
        metavar="NAME=FIELD:VALUE,…",
        help="a shape of your own, as in mine=compiled:0.5,tests_passed:2 (fields: compiled, tests_passed, phase)",
    )
    parser.add_argument("--profile", choices=("published", "true"), default="published", help="see below")
    parser.add_argument("--json", action="store_true", help="one JSON object a line: id, reward, terms, valid")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Score the file and print the answer. Raises ConfigError for a bad shape and DataError for a bad line."""
    tables = choose_tables(args.shapes, args.study, args.table, args.profile)
    scored = (score(item, tables) for item in read_lines(args.file))
    if args.json:
        for row in scored:
            print(json.dumps(row))
    else:
        print_table(scored, list(tables))
    return 0


def choose_tables(shapes: str | None, study: str | None, own: Iterable[str], profile: str) -> "dict[str, RewardTable]":
    """The reward tables by name, in the order asked for: of the study or else the published ones, and one's own."""
    from tiebreak.domains.rust.rewards import PUBLISHED_TABLES

    known = dict(PUBLISHED_TABLES) if study is None else _study_tables(study)
    known |= dict(map(_own_table, own))
    names = list(known) if shapes is None else [name.strip() for name in shapes.split(",")]
    if unknown := [name for name in names if name not in known]:
        raise ConfigError(f"--shapes: no shape {unknown[0]!r}; known are {', '.join(known)} (or add one with --table)")
    return {name: known[name].model_copy(update={"profile": profile}) for name in names}


def _study_tables(study: str) -> "dict[str, RewardTable]":
    from tiebreak.study import load

    return {name: arm.table() for name, arm in load(study).arms.items()}


def _own_table(text: str) -> "tuple[str, RewardTable]":
    """`name=field:value,…` as a table."""
    from pydantic import ValidationError

    from tiebreak.domains.rust.rewards import RewardTable

    name, equals, fields = text.partition("=")
    pairs = [pair.partition(":")[::2] for pair in fields.split(",") if pair]
    try:
        if not name or not equals:
            raise ConfigError(f"--table: found {text!r}, expected NAME=FIELD:VALUE,… as in mine=compiled:0.5")
        return name, RewardTable.model_validate(dict(pairs))
    except ValidationError as error:
        first = error.errors()[0]
        found = f"{'.'.join(map(str, first['loc']))}: found {first['input']!r}: {first['msg'].lower()}"
        allowed = ", ".join(key for key in RewardTable.model_fields if key != "profile")
        raise ConfigError(f"--table {name}: {found}; numbers for {allowed} are expected") from error


def score(item: Mapping[str, Any], tables: "Mapping[str, RewardTable]") -> Scored:
    """One transcript under every table; the reward is the sum of the terms."""
    from tiebreak.domains.rust.rewards import terms
    from tiebreak.domains.rust.transcript import read_transcript

    transcript = read_transcript(item["turns"])
    paid = {name: terms(transcript, item["tool_budget_exhausted"], table) for name, table in tables.items()}
    rewards = {name: sum(parts.values()) for name, parts in paid.items()}
    return {"id": item["id"], "reward": rewards, "terms": paid, "valid": transcript.valid}


def read_lines(file: str) -> Iterator[dict[str, Any]]:
    """The transcripts of a file (`-`: standard input); blank lines are passed over. Raises DataError with the line."""
    found = False
    for number, line in enumerate(_lines(file), 1):
        place = f"{'standard input' if file == '-' else file}:{number}"
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise DataError(f"{place}: byte {error.start} is no UTF-8; save the file as UTF-8") from error
        if text.strip():
            found = True
            yield _check(text, place)
    if not found:
        raise DataError(f"{file}: no transcripts; one JSON object a line is expected")


def _lines(file: str) -> Iterator[bytes]:
    if file == "-":
        yield from sys.stdin.buffer
        return
    try:
        with Path(file).open("rb") as lines:
            yield from lines
    except OSError as error:
        raise DataError(f"{file}: cannot be read: {error.strerror}; name a JSONL file of transcripts") from error


def _check(text: str, place: str) -> dict[str, Any]:
    """The transcript of one line, or a DataError that names what is wrong with it."""
    try:
        item = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{place}: no JSON ({error}); one JSON object a line is expected") from error
    if not isinstance(item, dict):
        raise DataError(f"{place}: found {_kind(item)}, a JSON object with id and turns is expected")
    wanted: dict[str, tuple[type, str]] = {
        "id": (str, "a string"),
        "turns": (list, "a list of {role, content}"),
        "tool_budget_exhausted": (bool, "true or false (false where the episode ended by itself)"),
    }
    for key, (kind, words) in wanted.items():
        if not isinstance(item.get(key), kind):
            found = _kind(item[key]) if key in item else "nothing"
            raise DataError(f"{place}: {key}: found {found}, expected {words}")
    for turn_number, turn in enumerate(item["turns"]):
        _check_turn(turn, f"{place}: turns[{turn_number}]")
    return item


def _check_turn(turn: Any, place: str) -> None:
    if not isinstance(turn, dict):
        raise DataError(f"{place}: found {_kind(turn)}, expected an object with role and content")
    for key in ("role", "content"):
        if not isinstance(turn.get(key), str):
            found = _kind(turn[key]) if key in turn else "nothing"
            raise DataError(f"{place}.{key}: found {found}, expected a string")
    if turn["role"] not in ("system", "user", "assistant", "tool"):
        raise DataError(f"{place}.role: found {turn['role']!r}, expected assistant or tool")


def _kind(value: Any) -> str:
    """What a JSON value is, in words, with the value itself where it is short."""
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", type(None): "null"}
    return f"{names.get(type(value), 'a number')} ({json.dumps(value)[:40]})"


def print_table(rows: Iterable[Scored], shapes: list[str]) -> None:
    """A line for each transcript and one of means; odd characters of an id are shown escaped."""
    scored = list(rows)
    ids = [json.dumps(row["id"])[1:-1] for row in scored]
    width = max(len(text) for text in [*ids, "mean"])
    _print_row("id".ljust(width), "valid", [name.rjust(_width(name)) for name in shapes])
    for text, row in zip(ids, scored, strict=True):
        cells = [f"{row['reward'][name]:{_width(name)}.3f}" for name in shapes]
        _print_row(text.ljust(width), "yes" if row["valid"] else "no", cells)
    means = [f"{sum(row['reward'][name] for row in scored) / len(scored):{_width(name)}.3f}" for name in shapes]
    _print_row("mean".ljust(width), f"{sum(row['valid'] for row in scored)}/{len(scored)}", means)


def _width(shape: str) -> int:
    """The width of a shape's column."""
    return max(9, len(shape))


def _print_row(name: str, valid: str, cells: list[str]) -> None:
    print("  ".join([name, valid.ljust(7), *cells]))
