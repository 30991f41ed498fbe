"""What the hub keeps in its folder: contents by their digest, and commits that are there whole or not at all."""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize {}\n"


@dataclass(frozen=True)
class Entry:
    """A file of a commit: bytes, SHA-256 of them, git's name of the blob, and whether that blob is an LFS pointer."""

    size: int
    sha256: str
    oid: str
    lfs: bool


@dataclass(frozen=True)
class Commit:
    """The state of a repository: every path with its entry."""

    id: str
    parent: str | None
    title: str
    tree: Mapping[str, Entry]


def git_oid(body: bytes) -> str:
    """Git's name of a blob."""
    return hashlib.sha1(b"blob %d\0" % len(body) + body).hexdigest()


def entry_of(body: bytes) -> Entry:
    """The entry of a file that is kept in git itself."""
    return Entry(len(body), hashlib.sha256(body).hexdigest(), git_oid(body), lfs=False)


def lfs_entry(sha256: str, size: int) -> Entry:
    """The entry of a file of which git keeps a pointer."""
    return Entry(size, sha256, git_oid(POINTER.format(sha256, size).encode()), lfs=True)


def write(path: Path, body: bytes) -> None:
    """Write a file, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}")
    unfinished.write_bytes(body)
    os.replace(unfinished, path)


class Store:
    """All repositories under one folder. `kind` is models or datasets, `name` is owner/name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, body: bytes) -> str:
        """Keep a content; its SHA-256."""
        sha256 = hashlib.sha256(body).hexdigest()
        if not self.has(sha256):
            write(self.folder / "blobs" / sha256, body)
        return sha256

    def has(self, sha256: str) -> bool:
        """Whether a content is here."""
        return (self.folder / "blobs" / sha256).is_file()

    def get(self, sha256: str) -> bytes:
        """A content."""
        return (self.folder / "blobs" / sha256).read_bytes()

    def place(self, kind: str, name: str) -> Path:
        """The folder of a repository."""
        return self.folder / "repos" / kind / name

    def exists(self, kind: str, name: str) -> bool:
        """Whether there is such a repository."""
        return (self.place(kind, name) / "about.json").is_file()

    def create(self, kind: str, name: str, *, private: bool) -> None:
        """A repository with a first commit, as the hub makes it."""
        write(self.place(kind, name) / "about.json", json.dumps({"private": private}).encode())
        attributes = b"*.parquet filter=lfs diff=lfs merge=lfs -text\n"
        self.put(attributes)
        self.commit(kind, name, None, "initial commit", {".gitattributes": entry_of(attributes)})

    def is_private(self, kind: str, name: str) -> bool:
        """Whether only its owners may read it."""
        return bool(json.loads((self.place(kind, name) / "about.json").read_bytes())["private"])

    def commit(self, kind: str, name: str, parent: str | None, title: str, tree: Mapping[str, Entry]) -> Commit:
        """Add a commit; it is there when its file is."""
        number = len(self.commits(kind, name))
        told = {"parent": parent, "title": title, "tree": {path: asdict(item) for path, item in sorted(tree.items())}}
        found = hashlib.sha1(json.dumps([number, told]).encode()).hexdigest()
        write(self.place(kind, name) / f"{number:06}.json", json.dumps({"id": found, **told}).encode())
        return self.commits(kind, name)[-1]

    def commits(self, kind: str, name: str) -> list[Commit]:
        """The commits of main, the first one first."""
        told = [json.loads(path.read_bytes()) for path in sorted(self.place(kind, name).glob("[0-9]*.json"))]
        return [
            Commit(
                item["id"],
                item["parent"],
                item["title"],
                {path: Entry(**entry) for path, entry in item["tree"].items()},
            )
            for item in told
        ]

    def head(self, kind: str, name: str) -> Commit:
        """The newest commit of main."""
        return self.commits(kind, name)[-1]

    def files(self, kind: str, name: str) -> dict[str, bytes]:
        """The files of the newest commit, without what the hub itself put there."""
        tree = self.head(kind, name).tree
        return {path: self.get(entry.sha256) for path, entry in tree.items() if path != ".gitattributes"}
