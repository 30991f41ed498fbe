"""The word lists."""

from random import Random

import pytest

from tiebreak.domains.words import FOLDER, new_id, pick, some, words

LISTS = sorted(path.stem for path in FOLDER.glob("*.txt"))
KEYWORDS = {"as", "break", "const", "crate", "else", "enum", "fn", "for", "if", "impl", "in", "let", "loop", "match"}
KEYWORDS |= {"mod", "move", "mut", "pub", "ref", "return", "self", "static", "struct", "super", "trait", "true", "type"}
KEYWORDS |= {"unsafe", "use", "where", "while", "async", "await", "dyn", "try", "yield", "final", "box", "do", "macro"}


@pytest.mark.parametrize("name", LISTS)
def test_words_are_sorted_different_short_and_plain(name: str) -> None:
    found = list(words(name))
    assert found == sorted(set(found)) and 50 <= len(found) <= 110
    assert all(word.isascii() and word.isalpha() and word.islower() and len(word) <= 9 for word in found)


@pytest.mark.parametrize("name", ["keys", "nouns", "things", "verbs"])
def test_words_that_name_variables_are_no_keywords(name: str) -> None:
    assert not set(words(name)) & KEYWORDS


def test_some_are_different_and_pick_is_one_of_the_list() -> None:
    rng = Random(1)
    assert all(len(set(some(rng, "people", 3))) == 3 for _ in range(50))
    assert pick(rng, "keys") in words("keys")


def test_a_new_id_avoids_the_used_ones() -> None:
    first = new_id(Random(3), set())
    assert new_id(Random(3), {first}) != first


def test_keys_and_nouns_differ_for_both_name_variables_of_one_function() -> None:
    assert not set(words("keys")) & set(words("nouns"))
