"""The result block of README: rendered from a study's kept artifacts, never typed (see `claims`)."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tiebreak.errors import DataError

KEPT = Path("docs/laptop")
ANALYSIS = "analysis.json"
FIGURE = "forest.svg"
SHOWN = ("recipe", "learning")


def interval(value: Mapping[str, Any] | None, digits: int = 3) -> str:
    """A value with its interval, as `0.412 (0.350 to 0.471)`."""
    if value is None or value["value"] is None or value["low"] is None:
        return "–"
    return f"{value['value']:.{digits}f} ({value['low']:.{digits}f} to {value['high']:.{digits}f})"


def row(name: str, arm: Mapping[str, Any], analysis: Mapping[str, Any]) -> str:
    """One arm's line of the table."""
    patch = arm["families"]["patch"]
    learned = analysis["learning"]["arms"].get(name)
    runs = len(analysis["recipe"]["run_means"][name])
    cells = [name, str(runs), interval(arm["pass_at_1"]), interval(patch["pass_at_1"]), interval(patch["pass_at_k"])]
    return "| " + " | ".join([*cells, interval(learned and learned["gain"])]) + " |"


def block(analysis: Mapping[str, Any]) -> str:
    """The rendered block: what can be said, a table of the arms, a figure."""
    sizes, settings = analysis["sizes"], analysis["settings"]
    k, level, cluster = settings["k"], 100 * (1 - settings["alpha"]), settings["cluster"]
    head = [
        "arm",
        "runs",
        "graded pass@1",
        "pass@1, cases to repair",
        f"pass@{k}, cases to repair",
        "gain on the probe",
    ]
    probe = max((arm["prompts"] for arm in analysis["learning"]["arms"].values()), default=0)
    order = ["sft", *(name for name in analysis["settings"]["arms"] if name in analysis["arms"])]
    lines = [
        *(f"> {part['text']}  " for part in analysis["statements"] if part["about"] in SHOWN),
        "",
        f"{sizes['rollouts']:,} rollouts of {sizes['cases']} held-out cases, {sizes['runs']} runs, "
        f"{sizes['repetitions']} repetitions; {level:g} % cluster-bootstrap intervals over {cluster}s. "
        f"The probe is {probe} prompts of the training pool, before and after.",
        "",
        "| " + " | ".join(head) + " |",
        "|---" * len(head) + "|",
        *(row(name, analysis["arms"][name], analysis) for name in order),
        "",
        f"![graded pass@1 of the arms and their differences]({KEPT / FIGURE})",
        "",
    ]
    return "\n".join(lines)


def keep(study: Path, root: Path) -> None:
    """Keep the artifacts of a finished study folder under `docs/laptop/`. Raises DataError where one is missing."""
    (root / KEPT).mkdir(parents=True, exist_ok=True)
    for source in (study / "stats" / ANALYSIS, study / "report" / "figures" / FIGURE):
        if not source.is_file():
            raise DataError(f"{source}: is not there; name the folder of a finished study, as in results/laptop")
        shutil.copyfile(source, root / KEPT / source.name)
