"""What must not leave in a text: secrets, paths of this machine, and what somebody meant to fill in later."""

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

# Each begins with plain characters, which `re` looks for many times faster than for a word's edge.
SECRETS = {
    "a token of the hub": re.compile(r"hf_[A-Za-z0-9]{16,}"),
    "a token of GitHub": re.compile(r"g(?:h[pousr]_[A-Za-z0-9]{20,}|ithub_pat_\w{20,})"),
    "a key of AWS": re.compile(r"A(?:KI|SI)A[A-Z0-9]{16}"),
    "a key of an endpoint": re.compile(r"sk-(?<!\wsk-)[A-Za-z0-9_-]{20,}"),
    "a private key": re.compile(r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----"),
    "a password in an address": re.compile(r"://[^/\s:@]+:[^/\s:@]+@"),
}
MACHINE = re.compile(r"/(?<![\w.~/-]/)(?:home|root|Users|tmp|var/tmp|private/tmp|mnt|scratch)/[\w.-]+")
PLACEHOLDERS = re.compile(r"\b(?:TODO|FIXME|XXX|TBD)\b|\blorem ipsum\b|\{\{\s*\w[\w.\s|]*\}\}|\{%.*?%\}")
LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?[^)]*\)|\b(?:href|src)\s*=\s*[\"']([^\"'#][^\"']*)[\"']")
NAMED = {
    "README.md": re.compile(r"`([\w-]+(?:/[\w.-]+)*\.(?:jsonl?|html|parquet|md|svg|csv))`"),
    "index.html": re.compile(r"\b((?:tables|figures)/[\w.-]+\.(?:csv|svg))\b"),
}
"""How a card and a page name files in plain text, by the name of the document."""
ELSEWHERE = re.compile(r"^(?:[a-z][a-z0-9+.-]*:|/)")  # another site, or another repository of the same hub
SHOWN = 40


def secrets(text: str) -> Iterator[tuple[str, str]]:
    """(what it is, its beginning) of each secret in a text. The rest is not shown again."""
    for what, pattern in SECRETS.items():
        for match in pattern.finditer(text):
            yield what, f"{match[0][:6]}…"


def machine_paths(text: str) -> Iterator[str]:
    """Absolute paths as they are on somebody's machine."""
    yield from (match[0][:SHOWN] for match in MACHINE.finditer(text))


def placeholders(text: str) -> Iterator[str]:
    """What stands in for something else."""
    yield from (match[0][:SHOWN] for match in PLACEHOLDERS.finditer(text))


def questions(value: Any, place: str = "") -> Iterator[str]:
    """The places of a nested value that still say `ask`."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from questions(item, f"{place}.{key}" if place else str(key))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from questions(item, f"{place}.{number}")
    elif value == "ask":
        yield place


def links(text: str, name: str) -> Iterator[str]:
    """The paths, from the release's root, of all files beside it that a document links to."""
    for match in LINK.finditer(text):
        target = (match[1] or match[2]).partition("#")[0].partition("?")[0]
        if target and not ELSEWHERE.match(target):
            yield normal(PurePosixPath(name).parent / target)


def named(text: str, name: str) -> Iterator[str]:
    """The paths, from the release's root, of all files that a card or a page names without a link."""
    place = PurePosixPath(name)
    for match in NAMED[place.name].finditer(text):
        yield normal(place.parent / match[1])


def normal(path: PurePosixPath) -> str:
    """A path without `.` and `..`; one that leads out of the root keeps its first `..`."""
    parts: list[str] = []
    for part in path.parts:
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)
