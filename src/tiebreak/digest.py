"""Digests of files, texts, values, code and the toolchain; all SHA-256 in hexadecimal.

Snakemake sees a script's own file and nothing that it imports. `code_digest` therefore covers the syntax trees of the
script and of every module of the library that it can reach by its import statements. Comments, layout and docstrings
are no part of a syntax tree's meaning, so editing them changes no digest.
"""

import ast
import hashlib
import json
import os
import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tiebreak.errors import ConfigError

PACKAGE = "tiebreak"
# Locked beside the rest, but they check the code and touch no result: their new versions make nothing stale.
CHECKERS = frozenset(
    {"pytest", "pluggy", "iniconfig", "hypothesis", "ruff", "mypy", "mypy-extensions", "librt", "snakefmt", "black"}
    | {"types-pyyaml", "types-tqdm", "pandas-stubs"}
)


def file_digest(path: Path) -> str:
    """The digest of a file's bytes. Raises OSError where it cannot be read."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def text_digest(text: str) -> str:
    """The digest of a text in UTF-8."""
    return bytes_digest(text.encode())


def bytes_digest(content: bytes) -> str:
    """The digest of bytes."""
    return hashlib.sha256(content).hexdigest()


def json_digest(value: Any) -> str:
    """The digest of a JSON value; the order of an object's keys does not count, that of a list does.

    Raises TypeError for what JSON cannot hold and ValueError for NaN and infinities.
    """
    return text_digest(json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False))


@dataclass(frozen=True)
class Import:
    """One name that an import asks for: `from {'.' * level}{module} import {name}`; no name for `import x`."""

    module: str
    name: str | None
    level: int
    line: int


@dataclass(frozen=True)
class Source:
    """What a source file contributes: its syntax tree's digest, its imports, its texts that look like modules."""

    digest: str
    imports: tuple[Import, ...]
    dotted: frozenset[str]


@dataclass(frozen=True)
class Module:
    """A module of the library: its dotted name and its file."""

    name: str
    path: Path

    @property
    def package(self) -> str:
        """The package that its relative imports start from."""
        return self.name if self.path.name == "__init__.py" else self.name.rpartition(".")[0]


def code_digest(script: Path, root: Path, domain: str | None = None) -> str:
    """The digest of all code that `script` can reach in the library under `root`/src (a relative script: under `root`).

    domain: the study's; the packages of other domains do not count, so that an edit of one leaves the others' results
    as they are. Raises ConfigError for a missing file, a syntax error, or an import of a module that does not exist.
    """
    digests = {module.name: read(module.path).digest for module in closure(script, root) if not foreign(module, domain)}
    return json_digest([read(root / script).digest, digests])


def foreign(module: Module, domain: str | None) -> bool:
    """Whether a module belongs to another domain than `domain`."""
    parts = module.name.split(".")
    owned = parts[:2] == [PACKAGE, "domains"] and module.package.count(".") >= 2
    return domain is not None and owned and parts[2] != domain


def closure(script: Path, root: Path) -> list[Module]:
    """The modules of the library under `root`/src that `script` can reach, sorted by name.

    Followed are import statements, also inside functions; a package's `__init__.py` comes with each of its modules, as
    Python runs it first. `if TYPE_CHECKING:` is not followed. A text that is the full name of a module, as in a
    registry of modules to import by name, counts as an import.
    """
    src = root / "src"
    reached: dict[str, Module] = {}
    waiting = list(targets(root / script, None, src))
    while waiting:
        name = waiting.pop()
        if name in reached or not (module := find(name, src)):
            continue
        reached[name] = module
        waiting += targets(module.path, module, src)
    return [reached[name] for name in sorted(reached)]


def targets(path: Path, module: Module | None, src: Path) -> Iterator[str]:
    """The names of the library modules that the file at `path` imports, with their packages; `module` if it is one."""
    source = read(path)
    for item in source.imports:
        base = absolute(item, module)
        if base.split(".")[0] != PACKAGE:
            continue
        if not find(base, src):
            raise ConfigError(f"{path}:{item.line}: imports {base}, which is no module under {src}")
        yield from ancestry(base)
        if item.name == "*":
            yield from submodules(base, src)
        elif item.name:
            yield f"{base}.{item.name}"  # a module or a name inside one: `find` tells
    for name in source.dotted:
        if find(name, src):
            yield from ancestry(name)


def absolute(item: Import, module: Module | None) -> str:
    """The full dotted name of the module that `item` names."""
    if not item.level:
        return item.module
    parts = module.package.split(".") if module else []
    parts = parts[: len(parts) - item.level + 1]
    return ".".join([*parts, item.module] if item.module else parts)


def ancestry(name: str) -> list[str]:
    """`a.b.c` -> a, a.b, a.b.c: what Python runs to import it."""
    parts = name.split(".")
    return [".".join(parts[: end + 1]) for end in range(len(parts))]


def submodules(name: str, src: Path) -> list[str]:
    """The modules right inside a package, which its `import *` may bring; none for a plain module."""
    folder = src.joinpath(*name.split("."))
    names = [f"{name}.{child.stem}" for child in folder.glob("*") if child.stem != "__init__"]
    return [inner for inner in names if find(inner, src)]


def find(name: str, src: Path) -> Module | None:
    """The module called `name` under `src`; None if there is none (then it is a name inside a module)."""
    path = src.joinpath(*name.split("."))
    for candidate in (path / "__init__.py", path.with_name(f"{path.name}.py")):
        if candidate.is_file():
            return Module(name, candidate)
    return None


def read(path: Path) -> Source:
    """Parse the file at `path`. Raises ConfigError where it is missing or no Python."""
    try:
        return parse(path.read_bytes())
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror}); its code cannot be digested") from error
    except (SyntaxError, ValueError) as error:
        raise ConfigError(f"{path}: is no valid Python: {error}") from error


@cache
def parse(content: bytes) -> Source:
    """What a source with this content contributes; remembered, as many scripts reach the same modules."""
    tree = ast.parse(content)
    imports: list[Import] = []
    dotted: set[str] = set()
    for node in walk(tree):
        if isinstance(node, ast.Import):
            imports += [Import(alias.name, None, 0, node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            imports += [Import(node.module or "", alias.name, node.level, node.lineno) for alias in node.names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and is_dotted(node.value):
            dotted.add(node.value)
    return Source(text_digest(ast.dump(strip_docstrings(tree))), tuple(imports), frozenset(dotted))


def is_dotted(text: str) -> bool:
    """Whether a text could be the full name of a module of the library."""
    return re.fullmatch(rf"{PACKAGE}(\.\w+)+", text) is not None


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those that only a type checker reads."""
    for child in ast.iter_child_nodes(node):
        yield child
        if isinstance(child, ast.If) and is_type_checking(child.test):
            for other in child.orelse:
                yield other
                yield from walk(other)
        else:
            yield from walk(child)


def is_type_checking(test: ast.expr) -> bool:
    """Whether a condition is `TYPE_CHECKING` or `typing.TYPE_CHECKING`."""
    name = test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", None)
    return name == "TYPE_CHECKING"


def strip_docstrings(tree: ast.Module) -> ast.Module:
    """Drop, in place, the statements that are nothing but a text; a body that was nothing else becomes `pass`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            kept = [statement for statement in node.body if not is_text(statement)]
            node.body = kept or [ast.Pass()]
    return tree


def is_text(statement: ast.stmt) -> bool:
    """Whether a statement is a lone string: a docstring of a module, class, function or attribute."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def toolchain_digest(root: Path) -> str:
    """The digest of what is locked: the pinned packages, flake.lock, the pinned Rust, and Python's minor version.

    It reads files alone, so that a dry run needs no cargo; the versions a run really used are in its record. Comments
    and hashes in the package lock do not count (a lock that learns a wheel for another machine retrains nothing), nor
    do packages that only check the code (`CHECKERS`). Raises ConfigError for a lock that is missing or damaged.
    """
    flake = root / "flake.lock"
    try:
        locks: list[Any] = [pins("\n".join(path.read_text() for path in package_locks(root)))]
        locks.append(json.loads(flake.read_text()) if flake.exists() else None)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{root}: the locks cannot be read: {error}") from error
    return json_digest([*locks, pinned_versions(root).get("rust"), list(sys.version_info[:2])])


def package_locks(root: Path) -> list[Path]:
    """The locks of the environment that `./dev` runs commands in; what stands in a later one replaces the same package.

    TIEBREAK_TORCH, which `./dev` sets, says whether torch is the CPU build or the one for GPUs.
    """
    names = ["project.txt", "cuda.txt"] if os.environ.get("TIEBREAK_TORCH") == "cuda" else ["project.txt"]
    return [root / "requirements" / name for name in names]


def pins(lock: str) -> list[str]:
    """The `name==version` of a package lock, sorted, with markers, without hashes, comments and `CHECKERS`.

    Of a package that occurs twice the last one counts.
    """
    lines = re.findall(r"^([\w.\[\],-]+==[^\\\n]+)", lock, re.MULTILINE)
    found = {line.split("==")[0].lower(): line.strip() for line in lines}
    return sorted(line for name, line in found.items() if name not in CHECKERS)


def pinned_versions(root: Path) -> dict[str, str]:
    """The versions of the toolchain that pyproject.toml's `[tool.tiebreak]` names; none where it has no such table.

    Raises ConfigError for a file that is missing or damaged.
    """
    path = root / "pyproject.toml"
    try:
        return dict(tomllib.loads(path.read_text()).get("tool", {}).get(PACKAGE, {}))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: [tool.{PACKAGE}] cannot be read: {error}") from error
