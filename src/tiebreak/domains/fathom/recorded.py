"""Recorded episodes for people to look at: of a finished study, or of a file; each says what made it.

An episode: `label` and `source` (what made it), `turns`, `facts`, `stop`, `correct`, `terms` and `rewards` by published
shape, `tree` (calls of llm(), or null where they were not recorded one by one).
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tiebreak import tables
from tiebreak.domains.fathom.rescore import stored_terms
from tiebreak.domains.fathom.rewards import PUBLISHED_TABLES, reward
from tiebreak.errors import DataError
from tiebreak.paths import Paths, job_name

FALLBACK = Path(__file__).resolve().parents[4] / "resources" / "fathom" / "episodes.json"
COLUMNS = ["case_id", "family", "sample", "turns", "stop", "graded", "facts"]
EACH = 2  # episodes of each outcome that a run shows


def load(path: Path | None = None) -> dict[str, Any]:
    """What to show: of a study's folder, of a file that `save` wrote, or by default of the one that is checked in.

    Raises DataError, naming the path, where there are no such episodes.
    """
    path = path or FALLBACK
    if path.is_dir():
        return of_study(path)
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return {"about": str(found["about"]), "episodes": [checked(episode) for episode in found["episodes"]]}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"{path}: holds no recorded episodes ({type(error).__name__}: {error}); give the folder of a finished "
            "fathom study, or a file that `tiebreak serve --keep` wrote"
        ) from None


def checked(episode: Mapping[str, Any]) -> dict[str, Any]:
    """An episode with all of its parts. KeyError for one that lacks some."""
    names = ("label", "source", "kind", "turns", "facts", "stop", "correct", "terms", "rewards", "tree")
    return {name: episode[name] for name in names}


def save(path: Path, shown: Mapping[str, Any]) -> None:
    """Write a file that `load` reads."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(shown, indent=1, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")


def of_study(folder: Path) -> dict[str, Any]:
    """From each evaluated run of a finished study the first episodes of each outcome (first repetition)."""
    paths = Paths(folder.name, folder.parent)
    runs = sorted(path.name for path in (folder / "evals").glob("*") if paths.rollouts(path.name, 0).exists())
    episodes = [episode for run in runs for episode in of_run(paths, run)]
    if not episodes:
        raise DataError(f"{folder}: no evaluation with episodes in it; let the study finish, or name another folder")
    about = (
        f"Recorded while the study {folder.name} was evaluated: from each run's first repetition the first {EACH} "
        "episodes, by case and sample, of each outcome. Nothing on this page is made up or chosen by hand."
    )
    return {"about": about, "episodes": episodes}


def of_run(paths: Paths, run: str) -> Iterator[dict[str, Any]]:
    """The episodes of a run that are shown."""
    file = paths.rollouts(run, 0)
    rows = [row for row in tables.read_table(file, COLUMNS).to_pylist() if row["facts"] is not None]
    if rows and "gold_answer" not in rows[0]["facts"]:
        raise DataError(f"{file}: is of another domain than fathom; name a fathom study")
    commit, dirty = code_of(paths, run)
    shares = Counter(outcome(row) for row in rows)
    shown: Counter[str] = Counter()
    for row in rows:
        kind = outcome(row)
        shown[kind] += 1
        if shown[kind] <= EACH:
            source = {
                "study": paths.study,
                "run": run,
                "repetition": 0,
                "case": row["case_id"],
                "sample": row["sample"],
            }
            source |= {"commit": commit, "dirty": dirty}
            label = (
                f"recorded: study {paths.study}, {run}; {kind}, as {shares[kind]} of {len(rows)} episodes of this run"
            )
            yield episode_of(row, label, source)


def episode_of(row: Mapping[str, Any], label: str, source: Mapping[str, Any]) -> dict[str, Any]:
    """A stored rollout as an episode; its rewards are computed from its stored facts."""
    terms = stored_terms(row["facts"], PUBLISHED_TABLES)
    return {
        "label": label,
        "source": dict(source),
        "kind": row["family"],
        "turns": [{"role": turn["role"], "content": turn["content"]} for turn in row["turns"]],
        "facts": row["facts"],
        "stop": row["stop"],
        "correct": bool(row["graded"]),
        "terms": terms,
        "rewards": {shape: reward(paid) for shape, paid in terms.items()},
        "tree": None,
    }


def outcome(row: Mapping[str, Any]) -> str:
    """How an episode ended, in words."""
    if row["graded"]:
        return "right"
    return "wrong" if row["facts"]["answer"] is not None else "no answer"


def code_of(paths: Paths, run: str) -> tuple[str | None, bool | None]:
    """Commit, and whether the tree differed from it, from the record of the evaluation; nulls without one."""
    record = paths.records / f"{job_name('evaluation', {'rep': '0', 'run': run})}.json"
    if not record.exists():
        return None, None
    git = json.loads(record.read_text(encoding="utf-8"))["git"]
    return git["commit"], git["dirty"]
