"""The verdict cache: what was put is got, damage is a miss, and many writers do not disturb each other."""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tiebreak.errors import DataError
from tiebreak.sandbox.cache import SUFFIX, Cache, key_of

PAIRS = st.dictionaries(st.binary(min_size=1, max_size=8).map(key_of), st.binary(max_size=300), max_size=20)


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


WRITER = """
import sys
from pathlib import Path
from tiebreak.sandbox.cache import Cache, key_of
store, me = Cache(Path(sys.argv[1])), sys.argv[2]
for number in range(200):
    own = key_of(me.encode(), bytes([number]))
    store.put_many({key_of(b"shared", bytes([number])): b"x" * number, own: me.encode()})
print("done", flush=True)
if me == "0":
    while True:
        store.put_many({key_of(b"endless"): b"y" * 5000})
"""


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
