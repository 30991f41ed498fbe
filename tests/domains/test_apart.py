"""Domains know nothing of each other: an edit of one may not change what another does."""

import ast
from pathlib import Path

import pytest

DOMAINS = Path(__file__).parents[2] / "src/tiebreak/domains"
NAMES = sorted(folder.name for folder in DOMAINS.iterdir() if (folder / "__init__.py").is_file())


def imported(path: Path) -> set[str]:
    """The modules that a file imports by full name."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


@pytest.mark.parametrize("name", NAMES)
def test_a_domain_imports_no_other(name: str) -> None:
    files = sorted((DOMAINS / name).rglob("*.py"))
    assert files
    others = tuple(f"tiebreak.domains.{other}." for other in NAMES if other != name)
    assert [(path.name, item) for path in files for item in imported(path) if f"{item}.".startswith(others)] == []


def test_there_are_two() -> None:
    assert NAMES == ["fathom", "rust"]
