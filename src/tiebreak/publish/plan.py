"""What a release would change in a repository: its files against those of a commit, by their digests alone."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tiebreak.digest import file_digest
from tiebreak.errors import HubError

LARGEST_IN_GIT = 10 << 20
"""Above this a hub keeps a file outside git, under its SHA-256."""
OWN_FILES = (".gitattributes",)
"""What the hub itself puts into a repository."""
REMAKE = "make the release: ./dev snakemake --cores all release, with the study's --config"
MARKS = {"added": "+", "changed": "~", "removed": "-"}


@dataclass(frozen=True)
class Content:
    """A file's bytes: how many, their SHA-256, and git's name of them as a blob; None is not known."""

    size: int
    sha256: str | None
    blob: str | None

    def equals(self, other: "Content") -> bool:
        """Whether both are the same bytes, by the digest that both know; without one they are not."""
        if self.sha256 and other.sha256:
            return self.sha256 == other.sha256
        return self.blob is not None and self.blob == other.blob


Contents = Mapping[str, Content]


@dataclass(frozen=True)
class Plan:
    """The paths that a commit would add, change and remove, and those that stay, each with its bytes."""

    added: Mapping[str, int]
    changed: Mapping[str, int]
    removed: Mapping[str, int]
    unchanged: Mapping[str, int]

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to do."""
        return not (self.added or self.changed or self.removed)

    @property
    def sent(self) -> list[str]:
        """The paths whose bytes have to go."""
        return [*self.added, *self.changed]

    def lines(self) -> list[str]:
        """The plan as a person reads it: a line a file that differs, then what that comes to."""
        parts = {"added": self.added, "changed": self.changed, "removed": self.removed}
        found = [
            f"  {MARKS[name]} {path} ({size:,} bytes)" for name, part in parts.items() for path, size in part.items()
        ]
        sums = [f"{len(part)} {name}" for name, part in {**parts, "unchanged": self.unchanged}.items()]
        total = sum(self.added.values()) + sum(self.changed.values())
        return [*found, f"  {', '.join(sums)}; {total:,} bytes to send"]


def plan_of(ours: Contents, theirs: Contents) -> Plan:
    """What turns `theirs` into `ours`. The hub's own files stay."""
    common = sorted(ours.keys() & theirs.keys())
    same = [path for path in common if ours[path].equals(theirs[path])]
    return Plan(
        added=sizes(ours, sorted(ours.keys() - theirs.keys())),
        changed=sizes(ours, sorted(set(common) - set(same))),
        removed=sizes(theirs, sorted(theirs.keys() - ours.keys() - set(OWN_FILES))),
        unchanged=sizes(ours, same),
    )


def sizes(contents: Contents, paths: Iterable[str]) -> dict[str, int]:
    """The bytes of some paths."""
    return {path: contents[path].size for path in paths}


def content_of(path: Path) -> Content:
    """The content of a file. Raises HubError for what is none."""
    if not path.is_file():
        raise HubError(f"{path}: is not there; {REMAKE}")
    size = path.stat().st_size
    return Content(size, file_digest(path), blob_digest(path) if size <= LARGEST_IN_GIT else None)


def blob_digest(path: Path) -> str:
    """Git's name of a file: SHA-1 over `blob`, its length, a zero byte, and its bytes."""
    body = path.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(body) + body, usedforsecurity=False).hexdigest()


def files_in(folder: Path) -> dict[str, Path]:
    """The files of a folder by their relative paths. Snakemake's hidden stamps are not among them."""
    if not folder.is_dir():
        raise HubError(f"{folder}: is not there; {REMAKE}")
    found = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path for path in found if path.name != ".snakemake_timestamp"}
