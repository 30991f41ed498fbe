"""How many cases are no near duplicates of each other."""

from hypothesis import given
from hypothesis import strategies as st

from tiebreak.audits.breadth import distinct
from tiebreak.audits.shingles import similarity

SOURCES = ["fn a() { b(c, d, e); }", "fn a() { b(c, d, e) + 1; }", "fn z() { y(x, w, v); }", "let q = 1;", ""]


def test_a_repeated_source_counts_once_whatever_its_form() -> None:
    first, second = ("one", {"given": SOURCES[0], "repaired": SOURCES[1]}), ("two", {"given": SOURCES[1]})
    assert distinct([first, second, ("three", {"given": SOURCES[2]})], 0.92) == ["one", "three"]
    assert distinct([second, first], 0.92) == ["two"]


@given(st.lists(st.sampled_from(SOURCES), min_size=1, max_size=8), st.sampled_from([0.0, 0.3, 0.6, 0.92]))
def test_it_is_the_greedy_choice_by_the_exact_similarity(sources: list[str], threshold: float) -> None:
    kept: list[int] = []
    for number, source in enumerate(sources):
        if all(similarity(source, sources[other]) <= threshold for other in kept):
            kept.append(number)
    named = [(str(number), {"given": source}) for number, source in enumerate(sources)]
    assert distinct(named, threshold) == [str(number) for number in kept]
