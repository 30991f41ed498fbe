"""A crate as text: its name, where its tests begin, and which parts a model may not change."""

import re
from collections.abc import Iterable, Mapping

_NAME = re.compile(r"^\s*name\s*=\s*[\"']([A-Za-z0-9_-]+)[\"']", re.MULTILINE)
# the attribute, perhaps others, then the module; a lone `#[cfg(test)] use …` inside the code is no test part
_TESTS = re.compile(
    r"^[ \t]*#\s*\[\s*cfg\s*\(\s*test\s*\)\s*\](?=(?:\s*#\s*\[[^\]\n]*\])*\s*(?:pub(?:\([^)]*\))?\s+)?mod\b)",
    re.MULTILINE,
)
SOURCES = ("src/lib.rs", "src/main.rs")


def package_name(files: Iterable[tuple[str, str]]) -> str:
    """The package's name from Cargo.toml, or `crate` where it names none."""
    found = _NAME.search(dict(files).get("Cargo.toml", ""))
    return found.group(1) if found else "crate"


def crate_name(files: Iterable[tuple[str, str]]) -> str:
    """The package's name as an identifier."""
    return package_name(files).replace("-", "_")


def split_tests(source: str) -> tuple[str, str]:
    """(code, tests): a source cut where its first `#[cfg(test)]` module begins; tests may be empty."""
    found = _TESTS.search(source)
    return (source, "") if found is None else (source[: found.start()], source[found.start() :])


def immutable_change(before: str | None, after: str | None, path: str) -> str | None:
    """Why a change of `path` from `before` to `after` (None: absent) is refused; None where it is allowed.

    Only the sources' code may change: not Cargo.toml, a build script, .cargo, tests, benches, nor the tests part.
    """
    if before == after:
        return None
    if path not in SOURCES:
        return f"{path} may not be changed; only src/lib.rs and src/main.rs may"
    if before is None or after is None:
        return f"{path} may not be created or removed"
    if split_tests(before)[1] != split_tests(after)[1]:
        return f"the #[cfg(test)] part of {path} may not be changed"
    return None


def changed_parts(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Every refused change between two states of a crate, in order of path."""
    paths = sorted({*before, *after})
    reasons = (immutable_change(before.get(path), after.get(path), path) for path in paths)
    return [reason for reason in reasons if reason is not None]
