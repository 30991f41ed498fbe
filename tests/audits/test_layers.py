"""Audits know domains by their interface alone, and nothing of what stands below them in README's list."""

import ast
from pathlib import Path

import pytest

import tiebreak.audits

BELOW = ("domains.rust", "gates", "training", "report", "publish", "cli", "job", "sampling", "rollout", "engines")
MODULES = sorted(Path(tiebreak.audits.__file__).parent.glob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=[path.stem for path in MODULES])
def test_an_audit_imports_nothing_from_below(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    froms = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    plain = [name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names]
    ours = [name.removeprefix("tiebreak.") for name in froms + plain if name.startswith("tiebreak")]
    assert not [name for name in ours if any(name == one or name.startswith(f"{one}.") for one in BELOW)]
