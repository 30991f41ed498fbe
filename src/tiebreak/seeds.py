"""Named, recorded seeds: every random choice draws from a stream that its names determine."""

import hashlib
import json
import random

Name = str | int
MASK = (1 << 63) - 1


def derive(root_seed: int, *names: Name) -> int:
    """The seed of the stream `names` under `root_seed`, in [0, 2**63).

    The first 8 bytes, big-endian, of SHA-256 over the canonical JSON list [root_seed, *names], masked to 63 bits.
    A name is a string or an integer, and 1 and "1" are different names. Raises TypeError for anything else.
    """
    for name in (root_seed, *names):
        if isinstance(name, bool) or not isinstance(name, str | int):
            raise TypeError(f"a seed's name is a string or an integer, not {name!r}")
    text = json.dumps([root_seed, *names], separators=(",", ":"), ensure_ascii=True)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") & MASK


def stream(root_seed: int, *names: Name) -> random.Random:
    """A `random.Random` on the stream `names`."""
    return random.Random(derive(root_seed, *names))
