"""Seeds are recomputed here from the published formula alone."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiebreak.seeds import derive, stream

NAMES = st.lists(st.integers(-(2**70), 2**70) | st.text(max_size=12), max_size=5)


def published(root: int, names: list[int | str]) -> int:
    """SHA-256 of the canonical JSON list, its first 8 bytes big-endian, the top bit dropped."""
    text = "[" + ",".join(str(name) if isinstance(name, int) else quoted(name) for name in [root, *names]) + "]"
    number = 0
    for byte in hashlib.sha256(text.encode("ascii")).digest()[:8]:
        number = number * 256 + byte
    return number % 2**63


def quoted(text: str) -> str:
    """A JSON string in ASCII, written out by the rules of RFC 8259 with the short escapes that it names."""
    short = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
    units = [int.from_bytes(pair, "big") for pair in pairs(text.encode("utf-16-be", "surrogatepass"))]
    return '"' + "".join(short.get(chr(u), chr(u) if 32 <= u < 127 else f"\\u{u:04x}") for u in units) + '"'


def pairs(data: bytes) -> list[bytes]:
    return [data[i : i + 2] for i in range(0, len(data), 2)]


@given(st.integers(0, 2**63 - 1), NAMES)
def test_the_published_formula_gives_the_same_seed(root: int, names: list[int | str]) -> None:
    # DEL is a control character that JSON leaves as it is
    seed = derive(root, *names)
    assert seed == published(root, names)
    assert 0 <= seed < 2**63


def test_a_known_seed_stays() -> None:
    assert derive(20261129, "eval", 0, "case", 3, 1) == published(20261129, ["eval", 0, "case", 3, 1])
    assert derive(0) == published(0, []) == int(hashlib.sha256(b"[0]").hexdigest()[:16], 16) & (2**63 - 1)


@given(NAMES, NAMES)
def test_other_names_give_other_seeds(one: list[int | str], two: list[int | str]) -> None:
    assert (derive(1, *one) == derive(1, *two)) == (one == two)


def test_a_number_and_its_text_are_two_names() -> None:
    assert derive(1, 1) != derive(1, "1")
    assert derive(1, "a", "b") != derive(1, "ab") != derive(1, "b", "a")


@pytest.mark.parametrize("name", [True, 1.0, None, b"x", ("a",)])
def test_what_is_no_name_is_refused(name: object) -> None:
    with pytest.raises(TypeError, match="string or an integer"):
        derive(1, name)  # type: ignore[arg-type]


def test_a_stream_repeats_and_belongs_to_its_names() -> None:
    assert stream(1, "a").random() == stream(1, "a").random() != stream(1, "b").random()
