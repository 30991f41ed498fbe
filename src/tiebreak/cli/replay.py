"""`tiebreak replay`: what the tools answer to calls that somebody wrote down, and what that comes to."""

import argparse
import json
import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from tiebreak.cli.texts import add_blueprint, read_blueprint, read_text, show, show_grade
from tiebreak.errors import BlueprintError, DataError

if TYPE_CHECKING:
    from tiebreak.domains.rust.domain import RustDomain
    from tiebreak.domains.rust.episode import RustEpisode
    from tiebreak.sections.model import Toolbox

DESCRIPTION = """\
Feed an episode with the turns of an assistant and see every reply, byte for byte what a model would see; then how the
episode ended: stop, valid (the transcript keeps the protocol), success (some cargo call succeeded), and graded (the
verdict on the final files) with the reasons against it.
"""

DETAILS = """\
turns: each line that starts with `CALL ` or `FINAL:` begins a turn, and other lines belong to the turn they follow. To
put several calls into one turn, or to write text before a call, separate the turns by lines of three dashes (---): then
these alone separate, and blank lines around a turn are left out. What follows the end of the episode is not played.

A call is one line, its payload a JSON object of strings. Paths are those of the prompt, crates/CASE_ID and below:

  CALL read_file {"id":"c1","file_path":"crates/CASE_ID/src/lib.rs"}
  CALL apply_patch {"id":"c2","file_path":"crates/CASE_ID/src/lib.rs","find":"a - b","replace":"a + b"}
  CALL cargo_test {"id":"c3","project_path":"crates/CASE_ID"}
  FINAL: the sign was wrong.

stop: `final` (a turn with FINAL: or without any call), `malformed` (a line that starts as a call and is none), `budget`
(more calls than the study allows), or none where the calls end before the episode does.

exit status: 0 it was played, however it ended; 2 it could not be played.
"""

BEGINS = re.compile(r"CALL |FINAL:")


@dataclass(frozen=True)
class Ending:
    """How an episode ended; `stop` is None where the calls ended first. played, left: numbers of turns."""

    stop: str | None
    valid: bool
    success: bool
    played: int
    left: int


def register(subparsers: Any) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser(
        "replay",
        help="play calls against a case and see what a model would see",
        description=DESCRIPTION,
        epilog=DETAILS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("calls", metavar="CALLS.txt", help="the assistant's turns, or - for standard input")
    add_blueprint(parser)
    parser.add_argument(
        "--study", metavar="NAME", help="the limits and the budget of this study (a name or a path), not the defaults"
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="print one JSON object: case_id, replies, stop, valid, success, played, left, graded, reasons",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Play the calls and print what came of it. DataError or BlueprintError where a file cannot be used."""
    from tiebreak.domains.rust.domain import RustDomain
    from tiebreak.domains.rust.verdicts import Judge

    case = read_blueprint(arguments.blueprint, arguments.case)
    turns = split_turns(read_text(arguments.calls))
    if not turns:
        raise DataError(f"{arguments.calls}: holds no turn; lines that start with CALL or FINAL: are expected")
    toolbox, rounds = settings(arguments.study)
    judge = Judge(None, diagnostics=toolbox.diagnostics)
    domain = RustDomain(judge, {}, toolbox.read_limit, toolbox.output_limit)
    episode = domain.episode(case, domain.prompt(case), tool_rounds=rounds)
    replies, played = play(domain, episode, turns, aloud=not arguments.json)
    ending = ending_of(episode, played, len(turns) - played)
    if not arguments.json:
        show_ending(ending)
    try:
        (grade,) = domain.reasoned_grades([episode])
    except BlueprintError as error:
        raise BlueprintError(f"{arguments.blueprint}: {error}") from error
    if arguments.json:
        found = {
            "case_id": case.case_id,
            "replies": replies,
            **asdict(ending),
            "graded": grade.graded,
            "reasons": grade.reasons,
        }
        print(json.dumps(found))
    else:
        show_grade(grade.graded, grade.reasons)
    return 0


def settings(study: str | None) -> "tuple[Toolbox, int]":
    """The toolbox and the number of rounds with calls, of a study or as they are by default."""
    from tiebreak.sections.evaluation import Evaluation
    from tiebreak.sections.model import Toolbox
    from tiebreak.study import load

    if study is None:
        return Toolbox(), Evaluation(k=1).tool_rounds
    found = load(study)
    return found.toolbox, found.evaluation.tool_rounds


def split_turns(text: str) -> list[str]:
    """The turns of a file of calls (see DETAILS)."""
    lines = text.split("\n")
    turns: list[list[str]] = [[]]
    if any(line.rstrip() == "---" for line in lines):
        for line in lines:
            if line.rstrip() == "---":
                turns.append([])
            else:
                turns[-1].append(line)
    else:
        for line in lines:
            if BEGINS.match(line) and any(map(BEGINS.match, turns[-1])):
                turns.append([])
            turns[-1].append(line)
    blocks = ("\n".join(block).strip("\r\n") for block in turns)
    return [block for block in blocks if block.strip()]


def play(domain: "RustDomain", episode: "RustEpisode", turns: list[str], *, aloud: bool) -> tuple[list[str], int]:
    """(every reply, how many turns were played); aloud: print each reply when it is there."""
    replies: list[str] = []
    for number, turn in enumerate(turns):
        if episode.stop is not None:
            return replies, number
        mark = len(episode.messages) + 1
        episode.act(turn)
        domain.answer([episode])
        for message in episode.messages[mark:]:
            replies.append(message["content"])
            if aloud:
                show(f"{message['content']}\n")
    return replies, len(turns)


def ending_of(episode: "RustEpisode", played: int, left: int) -> Ending:
    """How it ended, by the same predicates as an evaluation's outcome, which only a finished episode has."""
    from tiebreak.domains.rust.transcript import read_transcript

    transcript = read_transcript(episode.turns)
    return Ending(episode.stop, transcript.valid, transcript.first_success is not None, played, left)


def show_ending(ending: Ending) -> None:
    """Print how it ended, but for the grade."""
    show(f"stop: {ending.stop or 'none (the calls ended before the episode did)'}")
    show(f"valid: {str(ending.valid).lower()}")
    show(f"success: {str(ending.success).lower()}")
    if ending.left:
        show(f"not played: {ending.left} of {ending.played + ending.left} turns, which follow the end of the episode")
