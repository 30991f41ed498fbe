"""The command line: `tiebreak COMMAND …`.

A command is a module of this package. It has `register(subparsers)`, which adds its parser and sets the default `run`,
a function from the parsed arguments to the exit status: 0 fine, 1 it found something, 2 it could not do its work.
Heavy imports belong inside `run`.
"""

import argparse
import importlib
import os
import signal
import sys
from collections.abc import Sequence

from tiebreak.errors import TiebreakError

COMMANDS = (
    "audit",
    "blueprints",
    "cache",
    "claims",
    "compare",
    "doctor",
    "gate",
    "grade",
    "preflight",
    "prime-rl",
    "publish",
    "published",
    "replay",
    "score",
    "serve",
    "smoke",
    "verify",
)


def build_parser(commands: Sequence[str] = COMMANDS) -> argparse.ArgumentParser:
    """The parser with the subcommands `commands`; imports the modules of these alone."""
    parser = argparse.ArgumentParser(prog="tiebreak", description="Reward-shape studies, from blueprints to p-values.")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in commands:
        importlib.import_module(f"tiebreak.cli.{command.replace('-', '_')}").register(subparsers)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status; an error of ours is printed as its text alone."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    named = [arguments[0]] if arguments and arguments[0] in COMMANDS else COMMANDS
    parsed = build_parser(named).parse_args(arguments)
    try:
        status = parsed.run(parsed)
        sys.stdout.flush()
        return int(status)
    except TiebreakError as error:
        print(f"tiebreak: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # the reader has gone (as in `tiebreak … | head`): keep Python from complaining again at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
