"""Forgers who cover up what they changed in a release: one mends the manifest, one records and crate as well."""

import shutil
from dataclasses import replace
from pathlib import Path

from tiebreak.provenance import path_digest
from tiebreak.publish import crate, manifest, opened
from tiebreak.publish.records import write_lines
from tiebreak.publish.release import about, read_study
from tiebreak.publish.science import science_digest


def remake_manifest(release: Path) -> None:
    """Mend the manifest: digests of the files, and the science digest."""
    root = release.parent / "opened"
    opened.put_results(release, root)
    names = [path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()]
    science = science_digest(root, names)
    shutil.rmtree(root)
    manifest.write(release, replace(manifest.read(release), files=manifest.digests(release), science=science))


def remake_records(release: Path) -> None:
    """Mend the records and the crate as well."""
    study, records, place = read_study(release), opened.read_records(release), release.parent / "place"
    opened.put_results(release, place / "results" / study.name)
    told = {}
    for record in records:
        for item in record["outputs"]:
            if item["name"] != "model" and (place / item["path"]).exists():
                told[item["path"]] = item["sha256"] = path_digest(place / item["path"])
    for record in records:
        for item in record["inputs"]:
            item["sha256"] = told.get(item["path"], item["sha256"])
    shutil.rmtree(place)
    write_lines(release / "records.jsonl", records)
    (release / crate.NAME).unlink()
    in_order = sorted(records, key=lambda record: record["started"])
    crate.write_crate(release, in_order, about(study, manifest.read(release).commit))
    remake_manifest(release)
