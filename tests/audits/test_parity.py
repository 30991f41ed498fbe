from hypothesis import given
from hypothesis import strategies as st

from tiebreak.audits.parity import differing, first_difference


@given(st.text(), st.text())
def test_finds_the_first_byte_that_differs(a, b):
    left, right = a.encode(), b.encode()
    found = first_difference(a, b)
    if left == right:
        assert found is None
        return
    assert found is not None
    assert left[: found.offset] == right[: found.offset]
    assert left[found.offset : found.offset + 1] != right[found.offset : found.offset + 1]


def test_shows_it_readably():
    found = first_difference("system\nUse tools.\n", "system\nUse  tools.\n")
    assert (found.offset, found.line, found.column) == (11, 2, 5)
    assert (found.expected, found.found) == ("'t' (0x74)", "space (0x20)")
    assert found.expected_context == r"system\nUse ⟦t⟧ools.\n"
    assert found.found_context == r"system\nUse ⟦ ⟧tools.\n"


def test_a_prefix_differs_at_its_end():
    found = first_difference("abc", "ab")
    assert (found.offset, found.expected, found.found) == (2, "'c' (0x63)", "end of text")
    assert found.found_context == "ab⟦⟧"


def test_inside_a_character_the_bytes_are_shown():
    found = first_difference("é", "è")
    assert found.offset == 1
    assert r"\xc3⟦\xa9⟧" in found.expected_context


def test_long_texts_are_cut():
    found = first_difference("x" * 1000 + "a" + "y" * 1000, "x" * 1000 + "b" + "y" * 1000)
    assert found.found_context == "…" + "x" * 40 + "⟦b⟧" + "y" * 40 + "…"


def test_differing_cases():
    assert list(differing({"a": "1", "b": "2", "c": "3"}, {"c": "4", "a": "1"})) == ["c"]
