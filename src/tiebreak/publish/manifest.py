"""The manifest of a release: every file with its SHA-256, the science digest, and the digests of the models."""

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tiebreak.digest import file_digest
from tiebreak.errors import DataError
from tiebreak.job import write_json

NAME = "manifest.json"
FORMAT = 1
HIDDEN = (".git", ".cache", ".gitattributes", ".huggingface", ".snakemake_timestamp")
"""What the hub, its client and Snakemake put beside a release."""


@dataclass(frozen=True)
class Manifest:
    """files: {path: {sha256, bytes}}, all but the manifest itself. models: {run: {digest, files, repo}}, digest that of
    the folder as its training recorded it, files {name: SHA-256}, repo the hub's name or None."""

    study: str
    commit: str | None
    root_seed: int
    files: Mapping[str, Mapping[str, Any]]
    science: str
    models: Mapping[str, Mapping[str, Any]]


def write(release: Path, manifest: Manifest) -> None:
    """Write the manifest into the folder of its release."""
    write_json(release / NAME, {"format": FORMAT} | asdict(manifest))


def read(release: Path) -> Manifest:
    """The manifest of a release. Raises DataError where there is none, or another format."""
    path = release / NAME
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        if values.pop("format") != FORMAT:
            raise DataError(
                f"{path}: is not of format {FORMAT}, which this version reads; use the version that wrote it"
            )
        return Manifest(**values)
    except FileNotFoundError:
        raise DataError(f"{path}: not found; name the folder of a release (it holds {NAME}) or its dataset") from None
    except (ValueError, TypeError, KeyError, AttributeError, OSError) as error:
        raise DataError(f"{path}: is no manifest of a release ({error}); fetch the release again") from None


def listed(release: Path) -> Iterator[str]:
    """The paths of all files of a release but the manifest. Raises DataError for a link or another odd thing."""
    for folder, folders, names in os.walk(release):
        folders[:] = sorted(name for name in folders if not (Path(folder) == release and name in HIDDEN))
        for name in sorted(names):
            path = Path(folder) / name
            relative = path.relative_to(release).as_posix()
            if relative not in (NAME, *HIDDEN):
                yield relative


def digests(release: Path) -> dict[str, dict[str, Any]]:
    """SHA-256 and size of every file of a release but the manifest."""
    return {
        name: {"sha256": file_digest(release / name), "bytes": (release / name).stat().st_size}
        for name in listed(release)
    }
