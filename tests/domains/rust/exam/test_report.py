"""Reports are read as they were written, and whatever is broken in one is no proof."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiebreak.domains.rust.exam import report
from tiebreak.domains.rust.exam.report import Event, complaints, events, read, to_text

KINDS = st.sampled_from(["test", "passed", "failed", "equal", "unequal", "true", "value", "end"])
EVENTS = st.lists(st.tuples(KINDS, st.lists(st.text(), max_size=2)).map(lambda pair: (pair[0], *pair[1])))


def written(found: list[Event]) -> bytes:
    """Events in the harness's form."""
    lines = []
    for kind, *parts in found:
        texts = [part.encode("utf-8", errors="replace") for part in parts]
        lines.append(b" ".join([kind.encode(), *(str(len(text)).encode() for text in texts)]) + b"\n" + b"".join(texts))
    return b"".join(lines)


@given(EVENTS)
def test_events_come_back(found: list[Event]) -> None:
    plain = [tuple(part.encode("utf-8", errors="replace").decode() for part in event) for event in found]
    assert events(written(found)) == plain


@given(EVENTS, st.data())
def test_a_cut_report_is_a_beginning(found: list[Event], data: st.DataObject) -> None:
    raw = written(found)
    cut = events(raw[: data.draw(st.integers(0, len(raw)))])
    assert cut == events(raw)[: len(cut)]


@given(st.binary())
def test_no_bytes_are_too_odd(raw: bytes) -> None:
    read(to_text([event for event in events(raw) if event[0] not in ("test", "passed", "value")]))


GOOD: list[Event] = [
    ("test", "a"),
    ("equal", "2", "2"),
    ("equal", "{1, 2}", "{2, 1}"),
    ("true",),
    ("passed", "a"),
    ("value", "0", "-14"),
    ("end",),
]


def seen(changes: dict[int, Event | None]) -> report.Seen:
    changed = [changes.get(index, event) for index, event in enumerate(GOOD)]
    return read(to_text([event for event in changed if event is not None]))


def test_the_references_own_report_is_good() -> None:
    assert complaints(seen({}), seen({}), ["-14"]) == []


def test_the_order_inside_maps_and_of_threads_does_not_matter() -> None:
    other = seen({1: ("true",), 3: ("equal", "2", "2"), 2: ("equal", "{2, 1}", "{1, 2}")})
    assert complaints(other, seen({}), ["-14"]) == []


def test_what_is_inside_maps_does_matter() -> None:
    found = read(to_text([("test", "a"), ("equal", "P { x: 12 }", "P { x: 12 }"), ("passed", "a"), ("end",)]))
    other = read(to_text([("test", "a"), ("equal", "P { x: 21 }", "P { x: 12 }"), ("passed", "a"), ("end",)]))
    assert complaints(found, found, []) == []
    assert len(complaints(other, found, [])) == 1


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({6: None}, "ended before its exam"),
        ({0: None, 1: None, 2: None, 3: None, 4: None}, "test a was not reached"),
        ({4: ("failed", "a")}, "test a failed"),
        ({1: ("equal", "3", "2")}, "compared '3' with '2'"),
        ({1: ("unequal", "2", "2")}, "compared '2' with '2'"),
        ({3: None}, "fewer assertions"),
        ({5: None}, "no value"),
        ({5: ("panicked", "0")}, "no value"),
        ({5: ("value", "0", "14")}, "'14', not '-14'"),
        ({5: ("value", "1", "-14")}, "no value"),
    ],
)
def test_anything_else_is_a_complaint(changes: dict[int, Event | None], why: str) -> None:
    (complaint,) = complaints(seen(changes), seen({}), ["-14"])
    assert why in complaint
