"""Stored rollouts of the Rust domain, read for audits (`domains.reading.Reader`)."""

from collections.abc import Iterable, Mapping, Sequence

from tiebreak.domains.reading import Reading, StoredRollout
from tiebreak.domains.rust.blueprints import Blueprint
from tiebreak.domains.rust.facts import Facts, stated
from tiebreak.domains.rust.rescore import SHAPING, stored_facts
from tiebreak.domains.rust.rewards import RewardTable, terms
from tiebreak.domains.rust.tampering import TAMPERING, read_calls
from tiebreak.domains.rust.transcript import Answered, Transcript, read_transcript
from tiebreak.errors import DataError

PHASES = ("no_verdict", "never_compiled", "compiled", "ran", "some_tests_passed", "success")
SLIPS = ("malformed", "glued", "names_source", "no_final", "extra_final", "late_call", "repeated_id")


class RustReader:
    """cases: those that the rollouts are of. tables: the reward table of each shape to score under.

    phases: no_verdict is a rollout without an answered cargo call; compiled one whose tests or program never came to an
    end (a timeout, or no test to run); ran one that did. slips: `no_final` and `extra_final` are 1 where there is none
    or more than one line-initial FINAL; `late_call` counts calls after the first success, `repeated_id`
    those that were answered, and refused, because an earlier call has their id.
    """

    phases: Sequence[str] = PHASES
    slips: Sequence[str] = SLIPS
    tampering: Sequence[str] = TAMPERING
    shaping: Sequence[str] = SHAPING

    def __init__(self, cases: Iterable[Blueprint], tables: Mapping[str, RewardTable] | None = None) -> None:
        self.cases = {case.case_id: case for case in cases}
        self.tables = dict(tables or {})

    @property
    def shapes(self) -> Sequence[str]:
        """The shapes that rewards are computed for."""
        return list(self.tables)

    def read(self, rollout: StoredRollout) -> Reading:
        """Read one rollout; without stored facts there are no rewards, and the phase is read from the replies' text."""
        case = self.cases.get(rollout.case_id)
        if case is None:
            raise DataError(f"case {rollout.case_id} is not among the cases; give the cases.jsonl of the same study")
        transcript = read_transcript(rollout.turns)
        facts = stated(transcript) if rollout.facts is None else stored_facts(dict(rollout.facts))
        scored = self.tables if rollout.facts is not None and rollout.stop != "error" else {}
        budget = rollout.stop == "budget"
        return Reading(
            reached(transcript, facts),
            slips(transcript),
            tuple(read_calls(case, transcript.answered)),
            {name: sum(terms(transcript, budget, table, facts).values()) for name, table in scored.items()},
            transcript.valid,
            transcript.first_success is not None,
        )


def reached(transcript: Transcript, facts: Facts) -> str:
    """How far the cargo calls of a rollout came, the furthest of them all."""
    if transcript.first_success is not None:
        return "success"
    if facts.tests_passed:
        return "some_tests_passed"
    if facts.tests_total or (facts.compiled and any(map(_came_to_an_end, transcript.cargo))):
        return "ran"
    if facts.compiled:
        return "compiled"
    return "never_compiled" if transcript.cargo else "no_verdict"


def _came_to_an_end(item: Answered) -> bool:
    """Whether this is a program that was built and ended by itself, be it with a wrong output or a panic."""
    built = "could not compile" not in item.output and "error[E" not in item.output
    return item.call.tool == "cargo_run" and built and not item.output.startswith("timed_out: true")


def slips(transcript: Transcript) -> dict[str, int]:
    """How often each breach of the protocol occurs."""
    ids = [item.call.id for item in transcript.answered if item.ok is not None]
    counts = (
        transcript.malformed,
        sum(turn.glued for turn in transcript.turns),
        sum(item.call.names_source for item in transcript.answered),
        int(transcript.finals == 0),
        int(transcript.finals > 1),
        transcript.calls_after_success,
        len(ids) - len(set(ids)),
    )
    return dict(zip(SLIPS, counts, strict=True))
