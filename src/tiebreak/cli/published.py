"""`tiebreak published`: the tables of the published glyph study, as it computed them and exactly."""

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tiebreak.errors import ConfigError, DataError

DESCRIPTION = """\
Recompute the tables of the published glyph study from a copy of its dataset: valid@8 of every repetition, the
differences of arms (first repetition against first) and of repetitions of one arm, pass@1 pooled, and difficulty bands.

Beside each other: *theirs*, 20,000 sign assignments drawn with seed 0 and families guessed from names, and *ours*, the
same statistics with every assignment counted. FOLDER has the dataset's layout, or is any folder of such JSON files.

With --into, FOLDER is a release of ours (or its dataset), and becomes a finished study here: all tables, no training.
"""
COLUMNS = ("pair", "delta", "up", "down", "theirs p", "ours p", "theirs p families", "ours p families")


def register(subparsers: Any) -> None:
    """Add the parser of `tiebreak published`."""
    parser = subparsers.add_parser(
        "published",
        help="recompute the published glyph study's tables, its way and exactly",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "folder", metavar="FOLDER", help="a copy of the dataset, or with --revision its name OWNER/NAME"
    )
    parser.add_argument("--revision", metavar="COMMIT", help="take the dataset from the hub, at this revision")
    parser.add_argument(
        "--families", metavar="FILE.json", type=Path, help="other name patterns than the published ones"
    )
    parser.add_argument("--into", metavar="results/NAME", type=Path, help="take a release of ours back as a study")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the tables. Raises DataError for a folder that holds no evaluations or some that must not be compared."""
    from tiebreak.stats.clusters import read_patterns
    from tiebreak.stats.published import PATTERNS, table

    if arguments.into is not None:
        return take_back(arguments)
    folder = Path(arguments.folder) if arguments.revision is None else download(arguments.folder, arguments.revision)
    if arguments.families is None:
        found = table(folder, PATTERNS)
    else:
        found = table(folder, read_patterns(arguments.families), f"name patterns of {arguments.families}")
    commit = None if arguments.revision is None else folder.name  # the hub's cache names a snapshot by its commit
    found = {"source": arguments.folder, "commit": commit, **found}
    print(json.dumps(found, indent=2) if arguments.json else "\n".join(render(found)))
    return 0


def take_back(arguments: argparse.Namespace) -> int:
    """Make a release a study of this clone. Raises DataError or ConfigError."""
    from tiebreak.publish.fetching import folder_of
    from tiebreak.publish.importing import bring

    file = bring(folder_of(arguments.folder, arguments.revision), arguments.into)
    print(f"{arguments.into}: the study as it was published. Its page, with the viewer, and nothing before it:")
    print(f"./dev snakemake --cores all report --config study={file}")
    return 0


def download(name: str, revision: str) -> Path:
    """The evaluations of a hub dataset at a revision, in the hub's own cache; DataError where they cannot be had."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    if Path(name).exists():
        raise ConfigError(
            f"--revision {revision}: {name} is a folder here; a revision is for a dataset, as in owner/name"
        )
    try:
        return Path(snapshot_download(name, repo_type="dataset", revision=revision, allow_patterns=["*.json"]))
    except (HfHubHTTPError, HFValidationError, OSError) as error:
        raise DataError(f"dataset {name} at {revision}: {error}; name a folder with a copy instead") from error


def render(found: Mapping[str, Any]) -> Iterator[str]:
    """The tables in lines for people."""
    yield f"{found['cases']} cases, k = {found['k']}; families: {found['clusters']['source']}"
    yield ""
    yield f"valid@{found['k']} and pass@1 of each repetition (counts only: no rollouts are kept)"
    for arm, repetitions in found["arms"].items():
        yield from (f"  {arm:10} {line}" for line in map(repetition, repetitions))
    for key, title in (
        ("pairs", f"arms, first repetition against first, valid@{found['k']}"),
        ("repetitions", f"repetitions of one arm (the noise floor), valid@{found['k']}"),
        ("pooled", "arms, repetitions pooled, pass@1"),
    ):
        if found[key]:
            yield from ["", title, *aligned([COLUMNS, *map(row, found[key])])]
    for pair in found["bands"]:
        yield from ["", f"{pair['b']} − {pair['a']} in pass@1 by band of the first repetition of {pair['a']}"]
        yield from (f"  {band['band']:8} {band['cases']:4} cases  {band['delta']:+.4f}" for band in pair["bands"])
    yield ""
    if found["missing"]:
        yield f"not in the folder: {', '.join(found['missing'])}"
    yield from (f"note: {note}" for note in found["notes"])


def repetition(part: Mapping[str, Any]) -> str:
    """One repetition in a line."""
    kept = "" if part["retained"] else "  counts only"
    return f"{part['repetition']:28} {part['solved']:4}  {part['pass_at_1']:.4f}{kept}"


def row(part: Mapping[str, Any]) -> tuple[str, ...]:
    """One difference as cells: their p beside ours, over cases and over families."""
    names = [name for name in part["repetitions"] if isinstance(name, str)]
    pair = f"{names[1]} − {names[0]}" if part["a"] == part["b"] else f"{part['b']} − {part['a']}"
    delta = f"{part['delta']:+d}" if isinstance(part["delta"], int) else f"{part['delta']:+.4f}"
    theirs, ours = part["theirs"] or {}, part["ours"]
    moved = [str(ours["over_cases"][name]) for name in ("up", "down")]
    cells = [
        cell
        for kind, drawn in (("over_cases", "p_cases"), ("over_clusters", "p_clusters"))
        for cell in (chance(theirs.get(drawn)), chance(ours[kind]["p"]))
    ]
    return (pair, delta, *moved, *cells)


def chance(p: float | None) -> str:
    """A p-value to four decimals; a dash where their way has none."""
    return "–" if p is None else f"{p:.4f}"


def aligned(rows: list[tuple[str, ...]]) -> Iterator[str]:
    """Rows as text columns, the first to the left."""
    widths = [max(len(line[place]) for line in rows) for place in range(len(rows[0]))]
    for first, *rest in rows:
        cells = [cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True)]
        yield "  " + "  ".join([first.ljust(widths[0]), *cells])
