"""Python values as Rust: as an argument, as an expected value in an assertion, and as `{:?}` prints them."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Some:
    """Rust's `Some(value)`; `None` is Python's."""

    value: Any


@dataclass(frozen=True)
class Ok:
    """Rust's `Ok(value)`."""

    value: Any


@dataclass(frozen=True)
class Err:
    """Rust's `Err(value)`."""

    value: Any


@dataclass(frozen=True)
class Raw:
    """Rust text that stands as it is, such as an enum's variant; `{:?}` prints its last path segment."""

    text: str


def _wrapped(value: Some | Ok | Err, inner: str) -> str:
    return f"{type(value).__name__}({inner})"


def argument(value: Any) -> str:
    """`value` as an argument: lists are slices, tuples are tuples, text is `&str`."""
    if isinstance(value, list):
        return f"&[{', '.join(_element(item) for item in value)}]"
    return _element(value)


def _element(value: Any) -> str:
    if isinstance(value, Some | Ok | Err):
        return _wrapped(value, _element(value.value))
    if isinstance(value, tuple):
        return f"({', '.join(_element(item) for item in value)})"
    return _plain(value)


def expected(value: Any) -> str:
    """`value` as the right side of `assert_eq!`: lists are `vec!`."""
    if isinstance(value, list):
        return f"vec![{', '.join(_element(item) for item in value)}]"
    return _element(value)


def debug(value: Any) -> str:
    """What `format!("{:?}", value)` gives."""
    if isinstance(value, Some | Ok | Err):
        return _wrapped(value, debug(value.value))
    if isinstance(value, tuple):
        return f"({', '.join(debug(item) for item in value)})"
    if isinstance(value, list):
        return f"[{', '.join(debug(item) for item in value)}]"
    if isinstance(value, Raw):
        return value.text.rpartition("::")[2]
    return _plain(value)


def display(value: Any) -> str:
    """What `format!("{}", value)` gives; only for `is_plain` values."""
    return value if isinstance(value, str) else _plain(value)


def is_plain(value: Any) -> bool:
    """Whether Rust can print the value with `{}`."""
    return isinstance(value, bool | int | str)


def _plain(value: Any) -> str:
    if value is None:
        return "None"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, Raw):
        return value.text
    if isinstance(value, int):
        return str(value)
    raise TypeError(f"no Rust form for {value!r}")
