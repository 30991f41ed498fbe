"""Checks of what the manifest says of a release as a whole, and that it holds nothing that no other check reads."""

import fnmatch
from collections.abc import Iterator
from itertools import chain
from typing import Any

from tiebreak import gates
from tiebreak.paths import BASE_ARM
from tiebreak.publish import crate, manifest
from tiebreak.publish.context import Context
from tiebreak.publish.records import LINES, model_digests
from tiebreak.publish.release import commit_of, license_text, repository
from tiebreak.publish.verdicts import Difference, Verdict, differs

FILES = ("LICENSE", "README.md", LINES, "study.json", crate.NAME, crate.WORKFLOW)
FOLDERS = ("results/*", "tables/*", "patches/*.patch")


def check_whole(context: Context) -> Iterator[Verdict]:
    """The manifest's words on the study, its commit, seed and models; the licence; no file that has no place."""
    for field, found, expected in chain(said(context), models(context)):
        if found != expected:
            yield differs("manifest", Difference(manifest.NAME, field, found, expected))
            return
    for name in context.manifest.files:
        if name not in FILES and not any(fnmatch.fnmatch(name, pattern) for pattern in FOLDERS):
            yield differs("manifest", Difference(name, "", "there", "absent: no file of a release has this place"))
            return
    detail = "study, seed, commit, licence, and the models of all runs that were trained; every file has its place"
    yield Verdict("manifest", "bit-exact", detail, len(context.manifest.files))


def said(context: Context) -> Iterator[tuple[str, Any, Any]]:
    """What it says of the study, then what it must say."""
    found, study = context.manifest, context.study
    yield "study", found.study, study.name
    yield "root_seed", found.root_seed, study.root_seed
    yield "commit", found.commit, commit_of(context.records)
    yield "LICENSE", (context.release / "LICENSE").read_text(encoding="utf-8"), license_text(study)


def models(context: Context) -> Iterator[tuple[str, Any, Any]]:
    """Which models there are, the digest of each as its training recorded it, its repository by the study."""
    study, recorded = context.study, model_digests(context.records)
    trained = {run for run in study.trained_runs if gates.read(context.paths.decision(run)).go}
    yield "models", sorted(context.manifest.models), sorted({BASE_ARM, *trained})
    for run, model in sorted(context.manifest.models.items()):
        yield f"models.{run}.digest", model["digest"], recorded[run]
        yield f"models.{run}.repo", model["repo"], repository(study, run)
