"""A release taken back into a clone as a finished study: all tables without any training.

The weights and the viewer's data are not in a release. So Snakemake finds a page without its viewer, makes the page
anew from the tables as they were published, and runs nothing before it.
"""

import os
import shutil
import time
from pathlib import Path

import yaml

from tiebreak.errors import ConfigError, DataError
from tiebreak.paths import Paths
from tiebreak.publish import manifest, opened
from tiebreak.publish.check_files import check_manifest
from tiebreak.publish.release import read_study

STUDY = "study.yaml"


def bring(release: Path, into: Path) -> Path:
    """Make the folder `into` (results/NAME, NAME the study's) of a release; returns the study's file in it.

    Raises DataError for a damaged release, ConfigError where `into` is there or has another name.
    """
    study = read_study(release)
    if into.exists():
        raise ConfigError(f"{into}: is there already; move it away, or import into another clone")
    if into.name != study.name:
        raise ConfigError(f"--into {into}: the release is of study {study.name}; write --into results/{study.name}")
    for verdict in check_manifest(release, manifest.read(release)):
        if verdict.fails:
            raise DataError(f"{release}: {verdict.detail}; fetch the release again")
    unfinished = Paths(f".{study.name}", into.parent)
    shutil.rmtree(unfinished.root, ignore_errors=True)
    opened.put_results(release, unfinished.root, copies=True)
    opened.put_records(release, unfinished)
    values = study.model_dump(mode="json", by_alias=True, exclude_none=True)
    text = yaml.safe_dump(values, sort_keys=False, allow_unicode=True)
    (unfinished.root / STUDY).write_text(text, encoding="utf-8")
    level_times(unfinished.root)
    unfinished.root.rename(into)
    return into / STUDY


def level_times(root: Path) -> None:
    """Give everything under `root` one and the same time: then nothing is newer than what was made of it."""
    now = time.time()
    for folder, _, names in os.walk(root, topdown=False):
        for name in names:
            os.utime(Path(folder) / name, (now, now))
        os.utime(folder, (now, now))
