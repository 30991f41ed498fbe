"""The verdict cache: what was put is got, what is damaged or pruned is a miss, and many processes get along."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sandbox.segments_of import PAIRS, WRITER, fill, sizes

from tiebreak.errors import DataError
from tiebreak.sandbox.cache import SUFFIX, Cache, key_of
from tiebreak.sandbox.cache_files import Pruned, prune, segments


@given(PAIRS)
@settings(max_examples=50)
def test_what_was_put_is_got_by_a_new_store(pairs: dict[bytes, bytes]) -> None:
    with TemporaryDirectory() as folder:
        Cache(Path(folder)).put_many(pairs)
        fresh = Cache(Path(folder))
        assert fresh.get_many(list(pairs)) == list(pairs.values())
        assert fresh.get_many([key_of(b"never put")]) == [None]


@given(PAIRS, st.data())
@settings(max_examples=150)
def test_damage_is_a_miss_and_never_a_wrong_value(pairs: dict[bytes, bytes], data: st.DataObject) -> None:
    with TemporaryDirectory() as folder:
        Cache(Path(folder)).put_many(pairs)
        for segment in Path(folder).glob(f"*{SUFFIX}"):
            raw = bytearray(segment.read_bytes())
            for _ in range(data.draw(st.integers(0, 4))):
                raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
            segment.write_bytes(raw[: data.draw(st.integers(0, len(raw)))])
        found = Cache(Path(folder)).get_many(list(pairs))
        assert all(value in (None, pairs[key]) for key, value in zip(pairs, found, strict=True))


def test_a_torn_tail_costs_only_its_own_record(tmp_path: Path) -> None:
    pairs = {key_of(bytes([n])): bytes([n]) * 100 for n in range(5)}
    Cache(tmp_path).put_many(pairs)
    (segment,) = tmp_path.glob(f"*{SUFFIX}")
    segment.write_bytes(segment.read_bytes()[:-3])
    assert Cache(tmp_path).get_many(list(pairs)) == [*list(pairs.values())[:-1], None]


def test_a_damaged_middle_costs_only_its_own_record(tmp_path: Path) -> None:
    store = Cache(tmp_path)
    pairs = {key_of(bytes([n])): bytes([n]) * 100 for n in range(3)}
    sizes = []
    for key, value in pairs.items():
        store.put_many({key: value})
        sizes.append(sum(path.stat().st_size for path in tmp_path.iterdir()))
    (segment,) = tmp_path.glob(f"*{SUFFIX}")
    raw = segment.read_bytes()
    segment.write_bytes(raw[: sizes[0]] + b"\xff" * (sizes[1] - sizes[0]) + raw[sizes[1] :])
    first, _, last = pairs.values()
    assert Cache(tmp_path).get_many(list(pairs)) == [first, None, last]


def test_an_open_store_sees_what_others_write(tmp_path: Path) -> None:
    reader, writer, key = Cache(tmp_path), Cache(tmp_path), key_of(b"late")
    assert reader.get_many([key]) == [None]
    writer.put_many({key: b"value"})
    assert reader.get_many([key]) == [b"value"]


def test_concurrent_writers_and_a_killed_one(tmp_path: Path) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), str(number)], stdout=subprocess.PIPE)
        for number in range(4)
    ]
    for writer in writers:
        assert writer.stdout is not None and writer.stdout.readline() == b"done\n"
    writers[0].kill()
    for writer in writers:
        writer.communicate()
    store = Cache(tmp_path)
    for number in range(200):
        own = [key_of(str(me).encode(), bytes([number])) for me in range(4)]
        shared, *mine = store.get_many([key_of(b"shared", bytes([number])), *own])
        assert shared == b"x" * number and mine == [b"0", b"1", b"2", b"3"]


@given(st.lists(st.binary(max_size=5), max_size=4), st.lists(st.binary(max_size=5), max_size=4))
def test_keys_tell_lists_apart(one: list[bytes], other: list[bytes]) -> None:
    assert (key_of(*one) == key_of(*other)) == (one == other)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="file/cache"):
        Cache(tmp_path / "file" / "cache")


@pytest.mark.parametrize("whole_folder", [False, True])
def test_a_writer_whose_segment_was_removed_goes_on(whole_folder: bool, tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    writer, reader, first, second = Cache(folder), Cache(folder), key_of(b"1"), key_of(b"2")
    writer.put_many({first: b"one"})
    assert reader.get_many([first]) == [b"one"]
    if whole_folder:
        shutil.rmtree(folder)
    else:
        segments(folder)[0].path.unlink()
    assert reader.get_many([first, second]) == [None, None]
    writer.put_many({second: b"two"})
    assert reader.get_many([first, second]) == [None, b"two"]
    assert writer.get_many([first, second]) == [None, b"two"]


def test_a_vanished_segment_gives_way_to_a_later_one(tmp_path: Path) -> None:
    reader, key, other = Cache(tmp_path), key_of(b"key"), key_of(b"other")
    first = fill(tmp_path, {key: b"value"}, 1)
    assert reader.get_many([key]) == [b"value"]
    first.unlink()
    fill(tmp_path, {key: b"value"}, 2)
    assert reader.get_many([other]) == [None]
    assert reader.get_many([key]) == [b"value"]


def test_a_store_keeps_all_segments_together_under_their_bound(tmp_path: Path) -> None:
    most, written = 100_000, 0
    store = Cache(tmp_path, most_bytes=most)
    for number in range(300):
        key, value = key_of(b"bound", bytes([number % 256, number // 256])), os.urandom(2_000)
        store.put_many({key: value})
        written += len(value)
        assert store.get_many([key]) == [value]
        assert sizes(tmp_path) <= most
    assert written > 5 * most
    assert sizes(tmp_path) > most // 2  # and it does not throw away more than it has to
    late = [key_of(b"bound", bytes([number % 256, number // 256])) for number in range(280, 300)]
    assert None not in Cache(tmp_path).get_many(late)
    before = segments(tmp_path)
    Cache(tmp_path, most_bytes=1_000).get_many(late)
    assert segments(tmp_path) == before  # who only reads removes nothing
    del store
    Cache(tmp_path, most_bytes=1_000).put_many({key_of(b"small"): b""})
    assert [segment.size < 1_000 for segment in segments(tmp_path)] == [True]


def test_a_full_disk_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    store, one, two = Cache(tmp_path), key_of(b"1"), key_of(b"2")
    with monkeypatch.context() as full:
        full.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:-1]))
        store.put_many({one: b"one"})
    store.put_many({two: b"two"})
    assert store.get_many([one, two]) == [None, b"two"]
    assert len(segments(tmp_path)) == 2


def test_a_forked_child_writes_a_segment_of_its_own(tmp_path: Path) -> None:
    store, keys = Cache(tmp_path), [key_of(b"parent"), key_of(b"child"), key_of(b"later")]
    store.put_many({keys[0]: b"1"})
    child = os.fork()
    if child == 0:
        try:
            store.put_many({keys[1]: b"2"})
        finally:
            os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert len(segments(tmp_path)) == 2
    assert prune(tmp_path, 0) == Pruned(1, segments(tmp_path)[0].size, 1, segments(tmp_path)[0].size)
    store.put_many({keys[2]: b"3"})
    assert store.get_many(keys) == [b"1", None, b"3"]


BUSY = """
import sys
from pathlib import Path
from tiebreak.sandbox.cache import Cache, key_of
folder, me = Path(sys.argv[1]), sys.argv[2].encode()
store = Cache(folder, most_bytes=60_000)
right = missed = 0
for number in range(400):
    keys = [key_of(who, bytes([number % 250])) for who in (b"0", b"1", b"2")]
    values = [who * 1_000 + key * 30 for who, key in zip((b"0", b"1", b"2"), keys)]
    mine = int(me)
    store.put_many({keys[mine]: values[mine]})
    for found, wanted in zip(store.get_many(keys), values):
        assert found in (None, wanted), (found, wanted)
        right, missed = right + (found is not None), missed + (found is None)
print(right, missed)
"""


def test_writers_and_pruners_at_once_give_right_values_or_misses(tmp_path: Path) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", BUSY, str(tmp_path), str(number)], stdout=subprocess.PIPE, text=True)
        for number in range(3)
    ]
    while any(writer.poll() is None for writer in writers):
        prune(tmp_path, 5_000)
    for writer in writers:
        right, missed = map(int, writer.communicate()[0].split())
        assert writer.returncode == 0
        assert right >= 400 and right + missed == 1200  # its own last value is never pruned
