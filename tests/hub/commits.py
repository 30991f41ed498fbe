"""A commit as the client sends it, line by line, applied to a tree or refused whole."""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from .store import Commit, Entry, Store, entry_of, lfs_entry

LARGEST = 10 << 20
MOST_FILES = 25_000


class Unfit(Exception):
    """A commit that cannot be made."""

    def __init__(self, status: int, text: str, code: str = "") -> None:
        super().__init__(text)
        self.status, self.code = status, code


def sha256_of(body: bytes) -> str:
    """The SHA-256 of a content."""
    return hashlib.sha256(body).hexdigest()


def applied(store: Store, head: Commit, lines: Sequence[Mapping[str, Any]]) -> tuple[str, dict[str, Entry]]:
    """The title and the tree of a commit upon `head`. Raises Unfit; contents may be kept, commits are not."""
    if not lines or lines[0]["key"] != "header" or not lines[0]["value"].get("summary"):
        raise Unfit(400, "the first line must be a header with a summary")
    header = lines[0]["value"]
    if header.get("parentCommit", head.id) != head.id:
        raise Unfit(412, f"A commit has happened since. Please refresh and try again. Head is {head.id}")
    tree = dict(head.tree)
    for line in lines[1:]:
        change(store, tree, line["key"], line["value"])
    if len(tree) > MOST_FILES:
        raise Unfit(413, "too many files")
    return header["summary"], tree


def change(store: Store, tree: dict[str, Entry], key: str, value: Mapping[str, Any]) -> None:
    """Apply one line to a tree."""
    path = value["path"]
    if path.startswith("/") or any(part in ("", ".", "..", ".git") for part in path.split("/")):
        raise Unfit(400, f"Invalid path: {path}")
    if key == "file":
        body = base64.b64decode(value["content"], validate=True)
        if len(body) > LARGEST:
            raise Unfit(413, f"{path} is too large for a file that is not in LFS")
        store.put(body)
        tree[path] = entry_of(body)
    elif key == "lfsFile":
        if value["algo"] != "sha256" or not store.has(value["oid"]) or len(store.get(value["oid"])) != value["size"]:
            raise Unfit(400, f"LFS pointer pointed to a file that does not exist: {path}")
        tree[path] = lfs_entry(value["oid"], value["size"])
    elif key == "deletedFile":
        if path not in tree:
            raise Unfit(404, f"A file with this name doesn't exist: {path}", "EntryNotFound")
        del tree[path]
    else:
        raise Unfit(501, f"this hub does not know {key}")
