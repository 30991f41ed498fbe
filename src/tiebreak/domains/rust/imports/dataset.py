"""Where an imported dataset lies: a folder of this machine, or a dataset of the Hugging Face hub at one commit."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tiebreak.digest import file_digest, json_digest
from tiebreak.errors import DataError
from tiebreak.hub import hub_words


@dataclass(frozen=True)
class Dataset:
    """A dataset that is here, whole.

    inside: where its files may lead by links; words: how messages call it; names: the paths of all its files, also of
    those that were not asked for.
    """

    root: Path
    inside: Path
    words: str
    names: tuple[str, ...]


def fetch(dataset: str, revision: str | None, wanted: Sequence[str] | None = None) -> Dataset:
    """The dataset at its revision; a hub's is downloaded, `wanted` patterns of it alone, and kept in the hub's cache.

    The revision of a folder is `folder_digest`, and may be left out. Raises DataError for a folder that is not there or
    has other content, and for whatever the hub or the way to it refuses.
    """
    folder = Path(dataset)
    if folder.is_dir():
        found = folder_digest(folder)
        if revision not in (None, found):
            raise DataError(
                f"dataset {dataset}: the files in this folder have the digest {found}, the study's revision is "
                f"{revision}; they were changed: put them back, or name this revision"
            )
        return Dataset(folder, folder, f"{dataset} at {found[:12]}", tuple(_names(folder)))
    if revision is None or len(revision) != 40:
        raise DataError(f"dataset {dataset}: there is no such folder; name a folder, or a dataset of the hub")
    root, names = _download(dataset, revision, wanted)
    inside = root.parent.parent  # the hub's cache keeps links to ../../blobs
    return Dataset(root, inside, f"{dataset} at {revision[:12]}", names)


def folder_digest(folder: Path) -> str:
    """The SHA-256 over names and digests of all files in a folder; hidden ones are not counted."""
    return json_digest([[name, file_digest(folder / name)] for name in _names(folder)])


def _names(folder: Path) -> list[str]:
    names = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return [str(name) for name in names if not any(part.startswith(".") for part in name.parts)]


def _download(dataset: str, revision: str, wanted: Sequence[str] | None) -> tuple[Path, tuple[str, ...]]:
    """The hub's snapshot, and the paths of all files of the commit."""
    from huggingface_hub import snapshot_download

    patterns = None if wanted is None else list(wanted)
    with hub_words("dataset", dataset, revision, DataError):
        root = Path(snapshot_download(dataset, repo_type="dataset", revision=revision, allow_patterns=patterns))
        names = _check_whole(root, dataset, revision, f"dataset {dataset} at {revision}")
    return root, names


def _check_whole(root: Path, dataset: str, revision: str, place: str) -> tuple[str, ...]:
    """The paths in the hub's own list of the commit's files; their sizes tell of a download that was cut short."""
    from huggingface_hub import get_cached_repo_tree

    items = get_cached_repo_tree(dataset, repo_type="dataset", revision=revision)
    for item in items:
        path, size = root / item.path, item.lfs.size if item.lfs is not None else item.size
        if path.is_file() and path.stat().st_size != size:
            raise DataError(
                f"{place}: {item.path} has {path.stat().st_size:,} bytes here and {size:,} on the hub: its download "
                f"was cut short; remove {path.resolve()} and run again"
            )
    return tuple(item.path for item in items)
