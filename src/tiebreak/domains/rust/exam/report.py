"""The harness's report: read, and compared with the reference's. Expected values exist here and not in the program."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

Event = tuple[str, ...]
SHOWN = 80  # characters of a value in a reason
WORD = re.compile(r"\w+|\W")
PARTS = {"test": 1, "passed": 1, "failed": 1, "value": 2, "panicked": 1, "end": 0}


def events(raw: bytes) -> list[Event]:
    """The events of a report: kind and texts. What follows a broken one (the program was killed in it) is left out."""
    found: list[Event] = []
    position = 0
    while (end := raw.find(b"\n", position)) >= 0:
        kind, *lengths = raw[position:end].split(b" ")
        if not kind.isalpha() or not all(length.isdigit() and len(length) < 12 for length in lengths):
            break
        position, parts = end + 1, [kind]
        for length in map(int, lengths):
            parts.append(raw[position : position + length])
            position += length
        if position > len(raw):
            break
        found.append(tuple(part.decode("utf-8", errors="replace") for part in parts))
    return found


def to_text(found: Sequence[Event]) -> str:
    """Events as canonical text, for a verdict's `stdout`."""
    return json.dumps(found, ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True)
class Seen:
    """A report by test and check: what each test saw, which tests passed, each check's value; whether it is whole."""

    tests: Mapping[str, tuple[Event, ...]] = field(default_factory=dict)
    passed: frozenset[str] = frozenset()
    values: Mapping[str, str] = field(default_factory=dict)
    whole: bool = False


def read(text: str) -> Seen:
    """What `to_text` made, by test and check."""
    tests: dict[str, list[Event]] = {}
    passed: set[str] = set()
    values, whole, name = {}, False, ""
    for kind, *parts in map(tuple, json.loads(text or "[]")):
        if len(parts) != PARTS.get(kind, len(parts)):
            break  # the harness wrote no such thing
        if kind == "test":
            name = parts[0]
            tests[name] = []
        elif kind in ("passed", "failed"):
            passed |= {parts[0]} if kind == "passed" else set()
            name = ""
        elif kind == "value":
            values[parts[0]] = parts[1]
        elif kind == "end":
            whole = True
        elif name:
            tests[name].append((kind, *parts))
    return Seen({name: tuple(seen) for name, seen in tests.items()}, frozenset(passed), values, whole)


def complaints(seen: Seen, reference: Seen, expected: Sequence[str]) -> list[str]:
    """Why a report is not that of a good solution; empty where it is.

    reference: the report of the reference fix, whose tests all passed. expected: the hidden checks' values, by number.
    """
    found = [] if seen.whole else ["the program ended before its exam did"]
    for name, wanted in reference.tests.items():
        if name not in seen.passed:
            found.append(f"test {name} {'failed' if name in seen.tests else 'was not reached'}")
        elif difference := _difference(seen.tests.get(name, ()), wanted):
            found.append(f"test {name} passed, but {difference}")
    for number, value in enumerate(expected):
        got = seen.values.get(str(number))
        if got != value:
            found.append(f"hidden check {number}: {'no value' if got is None else _short(got)}, not {_short(value)}")
    return found


def _difference(seen: Sequence[Event], wanted: Sequence[Event]) -> str | None:
    """How what a test compared differs from what the reference's compared, whatever the order (tests may thread)."""
    more, less = Counter(map(_loose, seen)), Counter(map(_loose, wanted))
    if more == less:
        return None
    odd = next((event for event in seen if more[_loose(event)] > less[_loose(event)]), None)
    if odd is None:
        return "made fewer assertions than the reference's"
    return f"compared {' with '.join(map(_short, odd[1:])) or odd[0]}, which the reference's did not"


def _loose(event: Event) -> Event:
    """An event without the order inside maps and sets, which the standard library draws anew for each program."""
    kind, *parts = event
    return (kind, *("".join(sorted(WORD.findall(part))) if "{" in part else part for part in parts))


def _short(text: str) -> str:
    return repr(text if len(text) <= SHOWN else text[:SHOWN] + "…")
