"""Segments: what is damaged is counted, what nobody writes can be pruned, and many pruners get along."""

import errno
import fcntl
import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sandbox.segments_of import PAIRS, WRITER, fill, sizes

from tiebreak.sandbox.cache import Cache, key_of
from tiebreak.sandbox.cache_files import Pruned, being_written, check, inspect, prune, record, segments

FULL = PAIRS.filter(bool)


@given(st.lists(FULL, min_size=1, max_size=6), st.floats(0, 1.2), st.data())
@settings(max_examples=100)
def test_what_pruning_leaves_is_right_and_the_rest_is_a_miss(
    parts: list[dict[bytes, bytes]], share: float, data: st.DataObject
) -> None:
    # a key has one value whatever segment it is in, as a verdict has
    values = {key: value for part in parts for key, value in part.items()}
    ages = data.draw(st.permutations(range(len(parts))))
    with TemporaryDirectory() as name:
        folder = Path(name)
        reader = Cache(folder)
        made = [
            fill(folder, {key: values[key] for key in part}, age + 1) for part, age in zip(parts, ages, strict=True)
        ]
        assert reader.get_many(list(values)) == list(values.values())
        size = [path.stat().st_size for path in made]
        total, most = sum(size), int(share * sum(size))
        done = prune(folder, most)
        assert (done.left, done.bytes, done.busy) == (sizes(folder), total - sizes(folder), 0)
        assert done.left <= most
        by_age = sorted(range(len(made)), key=lambda number: ages[number])
        gone, kept = by_age[: done.segments], by_age[done.segments :]
        assert [number for number in by_age if made[number].exists()] == kept
        assert not gone or done.left + size[gone[-1]] > most  # not one more than had to
        for store in (reader, Cache(folder)):
            found = dict(zip(values, store.get_many(list(values)), strict=True))
            assert all(value in (None, values[key]) for key, value in found.items())
        left = {key for number in kept for key in parts[number]}
        assert {key for key, value in found.items() if value is not None} == left
        Cache(folder).put_many(values)
        assert reader.get_many(list(values)) == list(values.values())


@given(st.lists(st.tuples(st.binary(max_size=8).map(key_of), st.binary(max_size=60)), max_size=6), st.data())
@settings(max_examples=200)
def test_a_check_finds_whole_records_and_counts_the_damaged(
    pairs: list[tuple[bytes, bytes]], data: st.DataObject
) -> None:
    records = [record(key, value) for key, value in pairs]
    whole = b"".join(records)
    assert check(whole) == ([key for key, _ in pairs], 0, False)
    if not records:
        return
    hurt = data.draw(st.integers(0, len(records) - 1))
    place = data.draw(st.integers(0, len(records[hurt]) - 1))
    broken = bytearray(records[hurt])
    broken[place] ^= data.draw(st.integers(1, 255))
    keys, damaged, last = check(b"".join([*records[:hurt], bytes(broken), *records[hurt + 1 :]]))
    assert keys == [key for number, (key, _) in enumerate(pairs) if number != hurt]
    assert (damaged, last) == (1, hurt == len(records) - 1)
    cut = data.draw(st.integers(1, len(records[-1]) - 1))
    assert check(whole[:-cut]) == ([key for key, _ in pairs[:-1]], 1, True)


def test_a_segment_stays_while_a_store_writes_it(tmp_path: Path) -> None:
    writer, key = Cache(tmp_path), key_of(b"mine")
    writer.put_many({key: b"value"})
    (found,) = segments(tmp_path)
    assert being_written(found)
    assert prune(tmp_path, 0) == Pruned(segments=0, bytes=0, busy=1, left=found.size)
    assert inspect(tmp_path).being_written == 1
    with found.path.open("ab") as file:
        file.write(record(key_of(b"next"), b"next")[:-1])
    assert inspect(tmp_path).damaged == 0  # what is just being written is no damage
    (found,) = segments(tmp_path)
    del writer
    assert inspect(tmp_path).damaged == 1
    with found.path.open("rb") as other:
        fcntl.flock(other, fcntl.LOCK_SH)  # as another pruner does while it looks
        assert not being_written(found)
    assert prune(tmp_path, 0) == Pruned(segments=1, bytes=found.size, busy=0, left=0)


def test_the_segment_of_a_killed_writer_can_go(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), "0"], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None and writer.stdout.readline() == b"done\n"
        assert prune(tmp_path, 0).busy == 1
        writer.kill()
    assert prune(tmp_path, 0).segments == 1
    assert list(tmp_path.iterdir()) == []


def test_where_there_are_no_locks_the_clock_tells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    writer, key = Cache(tmp_path), key_of(b"mine")
    writer.put_many({key: b"value"})
    old = fill(tmp_path, {key_of(b"old"): b"value"}, time.time() - 2 * 86_400)
    assert prune(tmp_path, 0).busy == 1
    assert not old.exists()
    assert writer.get_many([key]) == [b"value"]


PRUNER = """
import sys
from pathlib import Path
from tiebreak.sandbox.cache_files import prune
sys.stdin.readline()
done = prune(Path(sys.argv[1]), int(sys.argv[2]))
print(done.segments, done.bytes, done.busy)
"""


def test_pruners_at_once_remove_no_more_than_one_would(tmp_path: Path) -> None:
    for number in range(60):
        fill(tmp_path, {key_of(bytes([number])): os.urandom(3_000)}, number + 1)
    size = segments(tmp_path)[0].size
    pruners = [
        subprocess.Popen(
            [sys.executable, "-c", PRUNER, str(tmp_path), str(20 * size)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    for pruner in pruners:
        assert pruner.stdin is not None
        pruner.stdin.write("go\n")
        pruner.stdin.flush()
    said = [list(map(int, pruner.communicate()[0].split())) for pruner in pruners]
    assert [sum(column) for column in zip(*said, strict=True)] == [40, 40 * size, 0]
    assert [segment.changed for segment in segments(tmp_path)] == [float(number + 1) for number in range(40, 60)]
