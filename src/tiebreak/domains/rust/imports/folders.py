"""Case folders: a folder a case, with Cargo.toml, its sources, and the rest of the blueprint as spec.json."""

import json
from collections.abc import Iterator
from pathlib import Path

from tiebreak.domains.rust.blueprints import MANIFEST
from tiebreak.domains.rust.imports.rows import Row, identifier, load_json

SPECS = ("spec.json", "blueprint.json")
MADE_BY_CARGO = ("Cargo.lock", "target")


class _BadFile(Exception):
    """A file that cannot be a part of a case; the text says why."""


def read_folders(root: Path, inside: Path) -> list[Row]:
    """The cases of all folders under `root` that hold a Cargo.toml, by path; each is called as its folder.

    inside: no file may lead out of this folder by a link. A folder that is no sound case is a row with an error.
    """
    manifests = (path for path in sorted(root.rglob(MANIFEST)) if not _hidden(path.relative_to(root)))
    return [_row(path.parent, inside) for path in manifests]


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") or part == "target" for part in path.parts)


def _row(folder: Path, inside: Path) -> Row:
    try:
        files = {path: _text(folder / path, path, inside) for path in _files(folder)}
        name = next((name for name in SPECS if name in files), None)
        if name is None:
            return Row(folder.name, error=f"there is no {' or '.join(SPECS)} beside {MANIFEST}; a case needs one")
        spec = load_json(files.pop(name))
    except _BadFile as problem:
        return Row(folder.name, error=str(problem))
    except (ValueError, RecursionError) as problem:
        return Row(folder.name, error=f"{name}: no JSON ({problem}); the blueprint's JSON is expected")
    if not isinstance(spec, dict):
        return Row(folder.name, error=f"{name}: found a {type(spec).__name__}; the blueprint's JSON is expected")
    if spec.get("files", files) != files:
        return Row(folder.name, error=f"{name}: its files are not those of the folder; leave them out of it")
    return Row(folder.name, json.dumps({**spec, "files": files}), case_id=identifier(folder.name))


def _files(folder: Path) -> Iterator[str]:
    """The paths of a case's files, without what cargo makes and what is hidden."""
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        if path.is_dir() or _hidden(relative) or relative.parts[0] in MADE_BY_CARGO:
            continue
        yield str(relative)


def _text(path: Path, name: str, inside: Path) -> str:
    real = path.resolve()
    if not real.is_relative_to(inside.resolve()):
        raise _BadFile(f"{name} leads out of the dataset, to {real}; put the file itself there")
    try:
        return real.read_bytes().decode("utf-8")
    except OSError as problem:
        raise _BadFile(f"{name} cannot be read: {problem.strerror}") from problem
    except UnicodeDecodeError as problem:
        raise _BadFile(f"{name}: byte {problem.start} is no UTF-8; save the file as UTF-8") from problem
