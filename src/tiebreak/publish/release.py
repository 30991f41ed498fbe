"""A release: one folder that holds what a study found and what it takes to check it, the dataset's exact content.

The same results give the same bytes. Most small files travel in packs, one for each folder of the results, so that a
release has fewer than 100 files; the tables of rollouts, the cases, the analysis, the audits and the page lie open.
"""

import fnmatch
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tiebreak.digest import file_digest
from tiebreak.errors import DataError
from tiebreak.job import write_json
from tiebreak.paths import Paths
from tiebreak.publish import crate, manifest
from tiebreak.publish.loadable import write_loadable
from tiebreak.publish.packs import write_pack
from tiebreak.publish.records import LINES, Record, behind, files_of, model_digests, unchanged, write_lines
from tiebreak.publish.results_tables import write_tables
from tiebreak.publish.science import science_digest
from tiebreak.publish.strict import parsed
from tiebreak.sections.base import RELEASED
from tiebreak.study import Study, kind_of
from tiebreak.study_errors import first_error

FORMAT = 1
MOST_FILES = 99
MOST_TABLES = 60
TABLES = "evals/*/rep*/rollouts.parquet"
OPEN = (
    TABLES,
    "data/cases.jsonl",
    "stats/analysis.json",
    "audits/audits.json",
    "report/index.html",
    "report/figures/forest.svg",
)
Card = Callable[[Path], str]
"""Makes the text of README.md from the folder of a release that has all files but README.md, crate and manifest."""


def folder_of(paths: Paths) -> Path:
    """Where the release of a study is built."""
    return paths.root / "publish" / "release"


def build(paths: Paths, study: Study, card: Card) -> Path:
    """Build the release of a finished study, whole or not at all; returns its folder.

    Runs where the workflow runs, as the records' paths are relative. Raises DataError where a file is missing, is not
    what its job made, or where the release would have too many files.
    """
    records = behind(paths)
    out = folder_of(paths)
    unfinished = out.with_name(f".{out.name}")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    names = [path.relative_to(paths.root).as_posix() for path in unchanged(records)]
    fill(unfinished, paths, study, records, names)
    science = science_digest(paths.root, names)
    describe(unfinished, study, records, models(paths, study, records), science=science, card=card)
    shutil.rmtree(out, ignore_errors=True)
    unfinished.rename(out)
    return out


def fill(release: Path, paths: Paths, study: Study, records: Sequence[Record], names: Sequence[str]) -> None:
    """Everything but what describes the release; `names` are the results that it holds."""
    told = {"format": FORMAT, "study": study.model_dump(mode="json", by_alias=True)}
    write_json(release / "study.json", told, ordered=True)
    (release / "LICENSE").write_text(license_text(study), encoding="utf-8")
    put_results(release / "results", paths.root, names)
    write_lines(release / LINES, records)
    put_patches(release, paths, records)
    copy(Path("Snakefile"), release / crate.WORKFLOW)
    put_tables(release / "tables", paths, study)


def put_tables(folder: Path, paths: Paths, study: Study) -> None:
    """The tables that people load, made of the results; `verify` makes them again and compares."""
    rollouts = [paths.rollouts(run, repetition) for run in study.runs for repetition in study.repetitions]
    steps = {run: paths.steps(run) for run in study.trained_runs}
    write_loadable(folder, rollouts, paths.cases, paths.splits)
    write_tables(folder, rollouts, steps, study=study.name, root_seed=study.root_seed, k=study.evaluation.k)


def describe(
    release: Path,
    study: Study,
    records: Sequence[Record],
    models: Mapping[str, Mapping[str, Any]],
    *,
    science: str,
    card: Card,
) -> None:
    """The card, then the crate, then the manifest, each over all that is there before it."""
    commit = commit_of(records)
    (release / "README.md").write_text(card(release), encoding="utf-8")
    crate.write_crate(release, records, about(study, commit))
    found = manifest.Manifest(
        study=study.name,
        commit=commit,
        root_seed=study.root_seed,
        files=manifest.digests(release),
        science=science,
        models=models,
    )
    if len(found.files) >= MOST_FILES:
        raise DataError(f"{release}: would have {len(found.files) + 1} files, a release has at most {MOST_FILES}")
    manifest.write(release, found)


def put_results(target: Path, root: Path, names: Sequence[str]) -> None:
    """Copy the results of these names, the open ones as they are, the others into a pack for each folder."""
    many = len(fnmatch.filter(names, TABLES)) > MOST_TABLES
    packed: dict[str, list[str]] = {}
    for name in names:
        if is_open(name, many=many):
            copy(root / name, target / name)
        else:
            packed.setdefault(name.split("/")[0], []).append(name)
    for part, members in packed.items():
        write_pack(target / f"{part}.zip", root, members)


def is_open(name: str, *, many: bool) -> bool:
    """Whether a file of the results lies in a release by itself; the tables of rollouts do unless they are too many."""
    return any(fnmatch.fnmatch(name, pattern) for pattern in OPEN if not (many and pattern == TABLES))


def put_patches(release: Path, paths: Paths, records: Sequence[Record]) -> None:
    """The patches of the code that records name, where they were kept."""
    for record in records:
        patch = record["git"].get("patch")
        if patch and patch["kept"]:
            copy(paths.patches / f"{patch['sha256']}.patch", release / "patches" / f"{patch['sha256']}.patch")


def copy(source: Path, target: Path) -> None:
    """Copy a file's bytes."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        shutil.copyfile(source, target)
    except OSError as error:
        raise DataError(
            f"{source}: cannot be copied to {target} ({error.strerror}); is it there, is there room?"
        ) from None


def models(paths: Paths, study: Study, records: Sequence[Record]) -> dict[str, dict[str, Any]]:
    """The models of all runs that were trained to their end: digests, files and names of their repositories."""
    found = {}
    for run, digest in model_digests(records).items():
        folder = paths.model(run)
        if not (folder / "stopped.json").exists():
            files = {path.relative_to(folder).as_posix(): file_digest(path) for path in files_of(folder)}
            found[run] = {"digest": digest, "files": files, "repo": repository(study, run)}
    return found


def repository(study: Study, run: str) -> str | None:
    """The name of a run's model repository; None where the study names no owner for them."""
    owner = getattr(study.publish, "models", None)
    return None if owner is None else f"{owner}/{study.name}-{run}"


def commit_of(records: Sequence[Record]) -> str | None:
    """The commit that the report was made with."""
    report = next(record for record in records if record["rule"] == "report")
    commit = report["git"]["commit"]
    return None if commit is None else str(commit)


def about(study: Study, commit: str | None) -> dict[str, str]:
    """What the crate says of the study as a whole."""
    return {
        "name": study.name,
        "description": f"A reward-shape study of RLVR: arms {', '.join(study.arms)}; root seed {study.root_seed}.",
        "commit": commit or "unknown",
    }


def licence(study: Study) -> str | None:
    """The licence that the study gives its data."""
    return getattr(study.publish, "license", None)


def license_text(study: Study) -> str:
    """The file LICENSE."""
    name = licence(study)
    if name is None:
        return f"The study {study.name} names no licence for its data (publish.license); all rights are reserved.\n"
    return f"The data of the study {study.name} are under the licence {name} (as the Hugging Face Hub calls it).\n"


def read_study(release: Path) -> Study:
    """The study of a release, whatever lies on this machine. Raises DataError for what is none."""
    from pydantic import ValidationError

    path = release / "study.json"
    try:
        values = parsed(path.read_text(encoding="utf-8"))["study"]
        model = kind_of(values, path)
        return model.model_validate(values, context=RELEASED)
    except ValidationError as error:
        raise DataError(f"{path}: {first_error(error, model)}; fetch the release again") from None
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise DataError(f"{path}: is no study of a release ({error}); fetch the release again") from None
