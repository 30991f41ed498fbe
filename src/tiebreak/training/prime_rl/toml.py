"""Plain values as TOML: what prime-rl reads. Python reads TOML and does not write it."""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tiebreak.errors import ConfigError

BARE = re.compile(r"[A-Za-z0-9_-]+")


def dumps(values: Mapping[str, Any]) -> str:
    """A TOML text that `tomllib` reads as `values`: mappings as tables, lists of mappings as arrays of tables.

    Raises ConfigError for a value that TOML has no word for, such as None.
    """
    return "\n".join(lines(values, ())).strip("\n") + "\n"


def lines(values: Mapping[str, Any], place: tuple[str, ...]) -> Iterator[str]:
    """The lines of a table: its own values first, then the tables in it."""
    tables = {name: value for name, value in values.items() if isinstance(value, Mapping) or is_array(value)}
    for name, value in values.items():
        if name not in tables:
            yield f"{key(name)} = {plain(value, (*place, name))}"
    for name, value in tables.items():
        inner = (*place, name)
        if is_array(value):
            for item in value:
                yield from ("", f"[[{'.'.join(map(key, inner))}]]", *lines(item, inner))
        else:
            yield from ("", f"[{'.'.join(map(key, inner))}]", *lines(value, inner))


def is_array(value: Any) -> bool:
    """Whether a value is a list of tables."""
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(item, Mapping) for item in value)


def key(name: str) -> str:
    """A key, in quotes where it needs them."""
    return name if BARE.fullmatch(name) else plain(name, (name,))


def plain(value: Any, place: Sequence[str]) -> str:
    """One value of a line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float) and math.isfinite(value):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list | tuple):
        return "[" + ", ".join(plain(item, place) for item in value) + "]"
    raise ConfigError(f"{'.'.join(place)} is {value!r}, which TOML cannot say; leave it out or give it a value")
