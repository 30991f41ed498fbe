"""`tiebreak audit`: what stored rollouts and training records show when they are looked at again."""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tiebreak.errors import DataError
from tiebreak.paths import Paths

if TYPE_CHECKING:
    import pandas as pd

    from tiebreak.audits.stored import Stored
    from tiebreak.domains.rust.reading import RustReader

HELP = {
    "groups": "where training could learn: tied groups, groups without success, where the shaping varies",
    "tamper": "what every call was after, and where success and grade part (1 if a call got through or they do)",
    "unsolved": "how far the best rollout of each never-solved case came",
    "protocol": "breaches of the protocol, how rollouts ended, length and truncation",
    "ranking": "does a shape's reward rank the rollouts of a group as their grades do?",
}
SOURCE = {
    "groups": "results/STUDY; the output folder of a prime-rl run; or a CSV of its per-step facts (step, batch, "
    "dropped_total, training_examples)",
}
DEFAULT_SEED = 0


def register(subparsers: Any) -> None:
    """Add the parsers of `tiebreak audit WHAT PATH`."""
    parser = subparsers.add_parser("audit", help="look at stored rollouts and training records again")
    kinds = parser.add_subparsers(title="audits", metavar="WHAT", required=True)
    for name, text in HELP.items():
        one = kinds.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        one.add_argument("path", metavar="PATH", type=Path, help=SOURCE.get(name, "results/STUDY"))
        one.add_argument("--json", action="store_true", help="print one JSON object")
        one.set_defaults(run=run, what=name)
        if name == "ranking":
            one.add_argument("--study", help="a study whose shapes are all tried on the same rollouts (name or path)")
        if name == "groups":
            one.add_argument("--out", metavar="DIR", type=Path, help="write the table (CSV) and its figure (SVG) there")


def run(arguments: argparse.Namespace) -> int:
    """Print one audit. Raises DataError for a place that holds nothing to audit."""
    makers = {"groups": groups, "tamper": tamper, "unsolved": unsolved, "protocol": protocol, "ranking": ranking}
    status, found = makers[arguments.what](arguments)
    print(json.dumps(found, indent=1, allow_nan=False) if arguments.json else "\n".join(render(found)))
    return status


def render(found: dict[str, Any]) -> Iterator[str]:
    """An audit for people: facts a line each, then each table under its name."""
    import pandas as pd

    for key, value in found.items():
        name = key.replace("_", " ")
        if isinstance(value, list) and value and isinstance(value[0], dict):
            yield f"\n{name} ({len(value)})"
            yield pd.DataFrame(value).to_string(index=False, na_rep="–", float_format=decimals)
        elif isinstance(value, list):
            yield from [f"{name}: none"] if not value else (f"{name}: {item}" for item in value)
        else:
            yield f"{name}: {value}"


def decimals(value: float) -> str:
    """A number as it is if whole, else to three decimals."""
    return f"{value:.0f}" if value.is_integer() else f"{value:.3f}"


def groups(arguments: argparse.Namespace) -> tuple[int, dict[str, Any]]:
    """Training groups, of whichever records there are."""
    if arguments.path.is_file():
        return from_log(arguments)
    return own_groups(arguments) if any(arguments.path.glob("arms/*/seed*/groups.jsonl")) else saved_rollouts(arguments)


def from_log(arguments: argparse.Namespace) -> tuple[int, dict[str, Any]]:
    """What prime-rl's log says of each batch."""
    from tiebreak.audits.prime_rl import differing, read_orchestrator
    from tiebreak.audits.study import records
    from tiebreak.report.audit_figures import kept_svg
    from tiebreak.report.audit_tables import kept

    frame = read_orchestrator(arguments.path)
    if arguments.out is not None:
        store(arguments.out, "kept", kept(frame), kept_svg(frame))
    first = [
        f"step {row.step}: {row.dropped_total} of {row.batch}, so {row.kept} kept" for row in frame[:1].itertuples()
    ]
    return 0, {
        "steps": len(frame),
        "steps_where_training_examples_is_not_kept": differing(frame),
        "dropped": first,
        "batches": records(frame),
    }


def own_groups(arguments: argparse.Namespace) -> tuple[int, dict[str, Any]]:
    """The groups that a study's trainings recorded; 1 where they say other than the record of their step."""
    import pandas as pd

    from tiebreak.audits import groups as audit
    from tiebreak.audits.stored import training_lines
    from tiebreak.audits.study import records
    from tiebreak.domains.rust.reading import RustReader
    from tiebreak.report.audit_figures import drawings
    from tiebreak.report.audit_tables import groups as figure_table

    place = study_folder(arguments.path)
    steps = audit.by_step(training_lines(place, "groups"), RustReader.shaping)
    differing = audit.disagreements(steps, training_lines(place, "steps"))
    if arguments.out is not None:
        table = figure_table({"tables": {"group_steps": steps.to_dict("records")}})
        others = dict.fromkeys(("figure_never_solved", "figure_ranking"), pd.DataFrame())
        drawn = drawings({"figure_groups": table, **others}, list(dict.fromkeys(steps["arm"])))
        store(arguments.out, "groups", table, drawn.get("audit_groups", ""))
    return int(bool(differing)), {
        "differing_from_steps.jsonl": differing,
        "runs": records(audit.by_run(steps)),
        "steps": records(steps),
    }


def saved_rollouts(arguments: argparse.Namespace) -> tuple[int, dict[str, Any]]:
    """The rollouts that a prime-rl run saved."""
    from tiebreak.audits.prime_rl import by_step
    from tiebreak.audits.study import records

    steps = by_step(arguments.path)
    if arguments.out is not None:
        store(arguments.out, "saved_rollouts", steps, "")
    return 0, {"steps": records(steps)}


def store(folder: Path, name: str, table: "pd.DataFrame", svg: str) -> None:
    """Write a table and, where there is one, its figure."""
    from tiebreak.report.wording import write

    write(folder / f"{name}.csv", table.to_csv(index=False, lineterminator="\n"))
    if svg:
        write(folder / f"{name}.svg", svg)


def study_folder(path: Path) -> Paths:
    """The artifacts under results/STUDY. Raises DataError where there is no such folder."""
    if not path.is_dir():
        raise DataError(f"{path}: no such folder; name the results of a study, as in results/laptop")
    return Paths(path.resolve().name, path.resolve().parent)


def rollouts(arguments: argparse.Namespace) -> "tuple[Stored, RustReader]":
    """All stored rollouts of the study at PATH, and what read them."""
    from tiebreak.audits.stored import stored, study_parts
    from tiebreak.domains.rust.blueprints import load_blueprints
    from tiebreak.domains.rust.reading import RustReader

    place = study_folder(arguments.path)
    if not place.cases.is_file():
        raise DataError(f"{place.cases}: not found; an audit of rollouts needs the cases that they are of")
    reader = RustReader(load_blueprints(place.cases), shapes(getattr(arguments, "study", None)))
    return stored(study_parts(place), reader), reader


def shapes(study: str | None) -> dict[str, Any]:
    """The reward tables of a study's arms; none without a study."""
    from tiebreak.study import load

    return {} if study is None else {name: arm.reward_table() for name, arm in load(study).arms.items()}


def tamper(arguments: argparse.Namespace) -> tuple[int, dict[str, Any]]:
    """The tamper audit; 1 where a call got through to what is not the model's, or a success is not graded."""
    from tiebreak.audits import tamper as audit
    from tiebreak.audits.study import records

    found, reader = rollouts(arguments)
    attempts, parted = audit.attempts(found, reader.tampering), audit.findings(found.rollouts)
    through = int((attempts["outcome"] == "succeeded").sum())
    alarms = through + int((parted["finding"] == "success_not_graded").sum())
    return int(alarms > 0), {
        "rollouts": len(found.rollouts),
        "calls": len(found.calls),
        "attempts_at_what_a_model_may_not_touch": len(attempts),
        "not_refused": through,
        "by_kind": records(audit.calls(found)),
        "outcomes": records(audit.outcomes(found.rollouts)),
        "attempts": records(attempts),
        "findings": records(parted),
    }


def unsolved(arguments: argparse.Namespace) -> tuple[int, dict[str, Any]]:
    """The never-solved taxonomy."""
    from tiebreak.audits import taxonomy
    from tiebreak.audits.study import records

    found, reader = rollouts(arguments)
    lost = taxonomy.never_solved(found.rollouts, reader.phases)
    counts = taxonomy.counted(lost, found.rollouts, reader.phases)
    return 0, {"never_solved": records(lost), "by_phase": records(counts)}


def protocol(arguments: argparse.Namespace) -> tuple[int, dict[str, Any]]:
    """Protocol cleanliness and length."""
    from tiebreak.audits import protocol as audit
    from tiebreak.audits.study import records

    found, reader = rollouts(arguments)
    clean = audit.cleanliness(found.rollouts, reader.slips)
    return 0, {"cleanliness": records(clean), "lengths": records(audit.lengths(found.rollouts))}


def ranking(arguments: argparse.Namespace) -> tuple[int, dict[str, Any]]:
    """Reward against grade."""
    from tiebreak.audits import ranking as audit
    from tiebreak.audits.study import records

    found, reader = rollouts(arguments)
    return 0, {"ranking": records(audit.ranking(found.rollouts, reader.shapes, seed=DEFAULT_SEED))}
