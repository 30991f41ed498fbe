"""Segments for the tests of the cache: pairs to store, and writers."""

import os
from pathlib import Path

from hypothesis import strategies as st

from tiebreak.sandbox.cache import SUFFIX, Cache, key_of

PAIRS = st.dictionaries(st.binary(min_size=1, max_size=8).map(key_of), st.binary(max_size=300), max_size=20)


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


def fill(folder: Path, pairs: dict[bytes, bytes], changed: float) -> Path:
    """A segment that nobody writes any more."""
    before = set(folder.glob(f"*{SUFFIX}"))
    Cache(folder).put_many(pairs)
    (segment,) = set(folder.glob(f"*{SUFFIX}")) - before
    os.utime(segment, (changed, changed))
    return segment


def sizes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.glob(f"*{SUFFIX}"))
