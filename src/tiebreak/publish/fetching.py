"""Where a release is read from: a folder, or a dataset of the hub."""

from pathlib import Path

from tiebreak.errors import ConfigError, DataError
from tiebreak.hub import hub_words


def folder_of(name: str, revision: str | None) -> Path:
    """The folder of a release, or a copy of a hub dataset in the hub's own cache. Raises DataError or ConfigError."""
    if Path(name).is_dir():
        if revision is not None:
            raise ConfigError(
                f"--revision {revision}: {name} is a folder here; a revision is for a dataset, owner/name"
            )
        return Path(name)
    if Path(name).exists():
        raise DataError(f"{name}: is a file; name the folder of a release (it holds manifest.json) or its dataset")
    if name.count("/") != 1 or name.startswith((".", "/")):
        raise DataError(f"{name}: there is no such folder, and it is no name of a dataset (owner/name)")
    from huggingface_hub import snapshot_download

    with hub_words("dataset", name, revision or "its newest commit", DataError):
        return Path(snapshot_download(name, repo_type="dataset", revision=revision))
