"""The files of a commit, as the hub lists them."""

from typing import Any

from .store import Commit, Entry


def listing(commit: Commit, under: str, recursive: bool) -> list[dict[str, Any]]:
    """The entries of a commit under a folder, as the hub lists them."""
    inside = {path: entry for path, entry in sorted(commit.tree.items()) if not under or path.startswith(f"{under}/")}
    rest = {path: path.removeprefix(f"{under}/").split("/") for path in inside}
    folders = sorted(
        {
            "/".join(path.split("/")[: len(path.split("/")) - depth])
            for path, parts in rest.items()
            for depth in range(1, len(parts))
        }
    )
    found = [{"type": "directory", "path": path, "size": 0, "oid": "0" * 40} for path in folders]
    found += [file(path, entry) for path, entry in inside.items()]
    if recursive:
        return found
    depth = under.count("/") + 1 if under else 0
    return [item for item in found if item["path"].count("/") == depth]


def file(path: str, entry: Entry) -> dict[str, Any]:
    """A file, as the hub lists it."""
    large = {"lfs": {"oid": entry.sha256, "size": entry.size, "pointerSize": 127}} if entry.lfs else {}
    return {"type": "file", "path": path, "size": entry.size, "oid": entry.oid, **large}
