"""The manifest of a release: every file with its SHA-256, the science digest, and the digests of the models."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from tiebreak.digest import file_digest
from tiebreak.errors import DataError
from tiebreak.job import write_json
from tiebreak.publish.strict import parsed

NAME = "manifest.json"
FORMAT = 1
BESIDE = (
    ".gitattributes",
    ".snakemake_timestamp",
    ".git",
    ".git/*",
    *(
        f"{folder}/{name}"
        for folder in (".cache/huggingface", ".huggingface")
        for name in (".gitignore", ".gitignore.lock", "CACHEDIR.TAG", "*.metadata", "*.lock", "*.incomplete")
    ),
)
"""What the hub, its client, git and Snakemake put beside a release; nothing reads it."""
BLOBS = "blobs"
"""The folder of the hub's cache whose files a downloaded revision (snapshots/COMMIT) links to."""


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
        values = parsed(path.read_text(encoding="utf-8"))
        if values.pop("format") != FORMAT:
            raise DataError(
                f"{path}: is not of format {FORMAT}, which this version reads; use the version that wrote it"
            )
        found = Manifest(**values)
        require_entries(found)
        return found
    except FileNotFoundError:
        raise DataError(f"{path}: not found; name the folder of a release (it holds {NAME}) or its dataset") from None
    except (ValueError, TypeError, KeyError, AttributeError, OSError) as error:
        raise DataError(f"{path}: is no manifest of a release ({error}); fetch the release again") from None


def require_entries(found: Manifest) -> None:
    """Refuse files and models that are told otherwise than `Manifest` says. Raises ValueError."""
    for name, item in found.files.items():
        if not isinstance(item, dict) or item.keys() != {"sha256", "bytes"}:
            raise ValueError(f"files.{name} is {item!r}; SHA-256 and bytes are expected")
    for run, model in found.models.items():
        if not isinstance(model, dict) or not {"digest", "files"} <= model.keys() <= {"digest", "files", "repo"}:
            raise ValueError(f"models.{run} is {model!r}; digest, files and repo are expected")


def listed(release: Path) -> Iterator[str]:
    """The paths of all files of a release but the manifest. Raises DataError for a link or another odd thing."""
    blobs = release.resolve().parent.parent / BLOBS
    for folder, folders, names in os.walk(release, onerror=unreadable):
        folders.sort()
        for name in sorted([*names, *(name for name in folders if (Path(folder) / name).is_symlink())]):
            path = Path(folder) / name
            relative = path.relative_to(release).as_posix()
            if not any(fnmatchcase(relative, pattern) for pattern in BESIDE):
                require_plain(path, blobs)
                if relative != NAME:
                    yield relative


def unreadable(error: OSError) -> None:
    """Refuse a folder that cannot be listed."""
    raise DataError(f"{error.filename}: cannot be read ({error.strerror}); fetch the release again") from None


def require_plain(path: Path, blobs: Path) -> None:
    """Refuse what is no plain file: what a link leads to is no part of a release, but for a blob of the hub's cache."""
    cached = path.is_symlink() and path.resolve().parent == blobs
    if path.is_symlink() and not cached:
        raise DataError(f"{path}: is a link, to {os.readlink(path)}; a release holds files, copy what it leads to")
    if not path.is_file():
        raise DataError(f"{path}: is no file; a release holds plain files alone, fetch it again")


def digests(release: Path) -> dict[str, dict[str, Any]]:
    """SHA-256 and size of every file of a release but the manifest."""
    return {
        name: {"sha256": file_digest(release / name), "bytes": (release / name).stat().st_size}
        for name in listed(release)
    }
