"""`tiebreak score`: what would these rewards have paid for stored transcripts?"""

import argparse
import importlib
import json
from collections.abc import Iterable, Mapping
from typing import Any, Protocol, cast

from tiebreak.cli.lines import read_objects
from tiebreak.errors import ConfigError

DOMAINS = ("rust", "fathom")
DESCRIPTION = """\
Re-score stored transcripts under any reward shapes.

FILE holds one JSON object a line, other keys are passed over.
rust: id (a string), turns (a list of {role, content}) and tool_budget_exhausted (true or false); turns whose role is
neither assistant nor tool are passed over.
fathom: id, completion, gold_answer (strings), prompt_tokens, completion_tokens (whole numbers), and calls, the executed
ones; without calls `llm(` is counted in the text's fenced Python.
"""

PROFILES = """\
profiles (rust): whose facts the shaping terms rest on. `published`, the default here, repeats the published scorer,
which was made for text. `true` is what Tiebreak's own arms are trained with; from text alone it is a best effort: a
wrong output and a timeout count as compiled, E0106 is a type error, E0373 E0381 E0384 E0596 are borrow errors, and
only stderr is believed; but errors behind a cut and text that imitates the compiler can mislead it, which verdicts
cannot be.
"""


class Scorer(Protocol):
    """A domain's part: a module `score_DOMAIN` beside this one."""

    WHAT: str
    KEYS: str
    PUBLISHED_TABLES: Mapping[str, Any]
    RewardTable: Any

    def check(self, item: Mapping[str, Any], place: str) -> None:
        """Raise DataError for the first thing that is wrong with a line."""
        ...

    def score(self, item: Mapping[str, Any], tables: Mapping[str, Any]) -> dict[str, Any]:
        """One line under every table: id, reward, terms, valid, and what else the domain has to say."""
        ...


def scorer_of(domain: str) -> Scorer:
    """The part of a domain."""
    return cast(Scorer, importlib.import_module(f"tiebreak.cli.score_{domain}"))


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
    parser.add_argument("--domain", choices=DOMAINS, default=DOMAINS[0], help="whose transcripts (default: rust)")
    parser.add_argument("--shapes", metavar="A,B", help="names of shapes (default: all that are known)")
    parser.add_argument("--study", metavar="NAME", help="take shapes from this study's arms (a name or a path)")
    parser.add_argument(
        "--table",
        action="append",
        default=[],
        metavar="NAME=FIELD:VALUE,…",
        help="a shape of your own, as in mine=compiled:0.5,tests_passed:2 (a wrong field's error lists them)",
    )
    parser.add_argument("--profile", choices=("published", "true"), help="see below")
    parser.add_argument("--json", action="store_true", help="one JSON object a line: id, reward, terms, valid, …")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Score the file and print the answer. Raises ConfigError for a bad shape and DataError for a bad line."""
    scorer = scorer_of(args.domain)
    tables = choose_tables(scorer, args)
    scored = (scorer.score(item, tables) for item in checked_lines(scorer, args.file))
    if args.json:
        for row in scored:
            print(json.dumps(row))
    else:
        print_table(scored, list(tables))
    return 0


def checked_lines(scorer: Scorer, file: str) -> Iterable[dict[str, Any]]:
    """The lines of a file, each checked before it is scored."""
    for place, item in read_objects(file, scorer.WHAT, scorer.KEYS):
        scorer.check(item, place)
        yield item


def choose_tables(scorer: Scorer, args: argparse.Namespace) -> dict[str, Any]:
    """The reward tables by name, in the order asked for: of the study or else the published ones, and one's own."""
    known = dict(scorer.PUBLISHED_TABLES) if args.study is None else _study_tables(args.study, args.domain)
    known |= dict(_own_table(scorer, text) for text in args.table)
    names = list(known) if args.shapes is None else [name.strip() for name in args.shapes.split(",")]
    if unknown := [name for name in names if name not in known]:
        raise ConfigError(f"--shapes: no shape {unknown[0]!r}; known are {', '.join(known)} (or add one with --table)")
    return {name: _with_profile(known[name], args.profile) for name in names}


def _with_profile(table: Any, profile: str | None) -> Any:
    if "profile" in type(table).model_fields:
        return table.model_copy(update={"profile": profile or "published"})
    if profile is not None:
        raise ConfigError("--profile: only the Rust domain reads facts from text in two ways; leave it out")
    return table


def _study_tables(name: str, domain: str) -> dict[str, Any]:
    from tiebreak.study import load

    study = load(name)
    if study.domain != domain:
        raise ConfigError(f"--study {name}: its domain is {study.domain}; add --domain {study.domain}")
    return {arm: values.reward_table() for arm, values in study.arms.items()}


def _own_table(scorer: Scorer, text: str) -> tuple[str, Any]:
    """`name=field:value,…` as a table."""
    from pydantic import ValidationError

    name, equals, fields = text.partition("=")
    pairs = [pair.partition(":")[::2] for pair in fields.split(",") if pair]
    try:
        if not name or not equals:
            raise ConfigError(f"--table: found {text!r}, expected NAME=FIELD:VALUE,… as in mine=compiled:0.5")
        return name, scorer.RewardTable.model_validate(dict(pairs))
    except ValidationError as error:
        first = error.errors()[0]
        found = f"{'.'.join(map(str, first['loc']))}: found {first['input']!r}: {first['msg'].lower()}"
        allowed = ", ".join(key for key in scorer.RewardTable.model_fields if key != "profile")
        raise ConfigError(f"--table {name}: {found}; numbers for {allowed} are expected") from error


def print_table(rows: Iterable[dict[str, Any]], shapes: list[str]) -> None:
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
