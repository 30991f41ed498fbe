"""What was sent to the hub from this folder of results, so that a remote which somebody else changed is noticed.

A line before a commit (what it is to hold) and one after (its id): an answer that was lost on the way is then known
again by the files. Rules do not declare the file, as Snakemake would remove it before the next release.
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tiebreak.errors import HubError
from tiebreak.publish.plan import Content, Contents, plan_of

ROOM = 1 << 20
"""More bytes than this file and the receipt come to."""


@dataclass(frozen=True)
class Memory:
    """The file of one study."""

    path: Path

    def sending(self, repo: str, parent: str, files: Contents) -> None:
        """A commit upon `parent` is about to be sent."""
        told = {name: asdict(content) for name, content in sorted(files.items())}
        self.add({"repo": repo, "parent": parent, "files": told})

    def sent(self, repo: str, commit: str) -> None:
        """A commit holds what was to be sent, or may be replaced."""
        if commit not in self.commits(repo):
            self.add({"repo": repo, "commit": commit})

    def prepare(self) -> None:
        """Find out, before anything is sent, whether there is room here. Raises HubError."""
        trial = self.path.with_name(f".{self.path.name}.room")
        try:
            trial.parent.mkdir(parents=True, exist_ok=True)
            with trial.open("wb") as file:
                file.write(b"\0" * ROOM)
                os.fsync(file.fileno())
        except OSError as problem:
            raise HubError(f"{trial.parent}: cannot be written ({problem.strerror}); nothing was sent") from None
        finally:
            with suppress(OSError):
                trial.unlink(missing_ok=True)

    def add(self, line: Mapping[str, Any]) -> None:
        """Add a line; it begins anew, whatever an interruption left of the last one. Raises HubError on a full disk."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as file:
                file.write("\n" + json.dumps(line, sort_keys=True) + "\n")
        except OSError as problem:
            raise HubError(f"{self.path}: cannot be written ({problem.strerror}); nothing is sent without it") from None

    def lines(self) -> Iterator[dict[str, Any]]:
        """The lines. One that was cut short says nothing, so what it would have named counts as not ours."""
        text = self.path.read_text(encoding="utf-8") if self.path.exists() else ""
        for line in filter(None, text.split("\n")):
            try:
                yield json.loads(line)
            except ValueError:
                continue

    def commits(self, repo: str) -> set[str]:
        """The commits that were made from here."""
        return {line["commit"] for line in self.lines() if line["repo"] == repo and "commit" in line}

    def knows(self, repo: str, head: str, files: Contents) -> bool:
        """Whether the state of a repository was made from here: by its commit, or by files that were being sent."""
        if head in self.commits(repo):
            return True
        tried = (line["files"] for line in self.lines() if line["repo"] == repo and "files" in line)
        return any(plan_of(contents(told), files).is_empty for told in tried)


def contents(told: Mapping[str, Mapping[str, Any]]) -> dict[str, Content]:
    """Files as they were remembered."""
    return {name: Content(**values) for name, values in told.items()}
