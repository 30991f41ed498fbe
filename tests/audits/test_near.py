"""The near-duplicate measure against its plain definition, and the search against all pairs."""

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tiebreak.audits.near import Index, Near, recall
from tiebreak.audits.shingles import LITERAL, WIDTH, shingles, similarity, words
from tiebreak.domains.rust.generator import generate
from tiebreak.domains.rust.shared_code import forms

SOURCE = 'pub fn f(x: &str) -> i32 { let q = "a // b"; x.len() as i32 + q.len() as i32 + 7 }'


def plain_similarity(one: str, other: str) -> float:
    """The definition, on sets of tuples of tokens."""
    sets = []
    for source in (one, other):
        tokens = words(source)
        sets.append({tuple(tokens[at : at + WIDTH]) for at in range(max(1, len(tokens) - WIDTH + 1))})
    return len(sets[0] & sets[1]) / len(sets[0] | sets[1])


def test_comments_layout_and_literals_do_not_count() -> None:
    other = """/* a /* nested "quote */ comment */
pub fn f ( x : & str )->i32
{   // why "
    let q = "something else" ;
    x.len()as i32+q.len() as i32 + 0x_ff_u8
}"""
    assert words(other) == words(SOURCE)
    assert similarity(SOURCE, other) == 1


@pytest.mark.parametrize("change", [("x", "y"), ("i32", "i64"), ("+", "-"), ("len", "size"), ("&", "&mut ")])
def test_names_types_and_operators_do_count(change: tuple[str, str]) -> None:
    assert similarity(SOURCE.replace(*change), SOURCE) < 1


def test_tokens_of_awkward_rust() -> None:
    assert words(r"""'a' b'"' '\'' f('x','y') &'static str r#"// "no" "# b"\"" '\u{41}' // end""") == [
        *[LITERAL] * 3,
        *["f", "(", LITERAL, ",", LITERAL, ")", "&", "'static", "str"],
        *[LITERAL] * 3,
    ]
    assert words("1.5e-3 + 0xFFu8 .. 1_000 pair.0.1 0..5 0..=9 x1 'a: loop a.1.max(2.0)") == [
        *[LITERAL, "+", LITERAL, ".", ".", LITERAL, "pair", ".", "0", ".", "1"],
        *[LITERAL, ".", ".", LITERAL, LITERAL, ".", ".", "=", LITERAL, "x1", "'a", ":", "loop"],
        *["a", ".", "1", ".", "max", "(", LITERAL, ")"],
    ]
    assert words("a /* never closed") == ["a"]
    assert words('a "never closed') == ["a", '"', "never", "closed"]


@given(st.text(), st.text())
def test_whatever_a_model_writes_has_a_similarity(one: str, other: str) -> None:
    assert similarity(one, other) == similarity(other, one) == plain_similarity(one, other)
    assert similarity(one, one) == 1


TOKENS = st.lists(st.sampled_from(["fn", "x", "y", "{", "}", "1", '"s"', "+"]), max_size=40).map(" ".join)


@given(TOKENS, TOKENS)
def test_the_similarity_is_that_of_the_definition(one: str, other: str) -> None:
    assert similarity(one, other) == plain_similarity(one, other)


def test_the_hashes_of_shingles_never_change() -> None:
    """Stored figures depend on them; also on the sizes of sets of short texts."""
    assert [hex(value) for value in shingles(["fn", "f", "(", ")"])] == ["0xf408e9b32347a395"]
    assert len(shingles([])) == len(shingles(["a"])) == 1 and len(shingles(list("abcdef"))) == 2


def test_recall_is_near_one_where_the_gate_looks() -> None:
    assert recall(1.0) == 1
    assert recall(0.92) > 1 - 1e-7 and recall(0.8) > 0.998 and recall(0.6) > 0.72
    assert recall(0.05) < 1e-5, "sources that have nothing in common are hardly ever compared"


def slow_nearest(cases: Mapping[str, Mapping[str, str]], query: str, targets: list[str]) -> tuple[float, str]:
    """The similarity and name of the nearest target, over all pairs and forms."""
    options = [
        (-similarity(one, two), other)
        for other in targets
        for one in cases[query].values()
        for two in cases[other].values()
    ]
    negative, other = min(options)
    return -negative, other


@pytest.mark.parametrize("all_pairs", [0, 1 << 20])
def test_the_nearest_are_those_of_all_pairs(all_pairs: int) -> None:
    cases = {case.case_id: forms(case) for case in generate("all", 240, 9)}
    names = sorted(cases)
    queries, targets = names[:60], names[60:]
    index = Index(cases.items(), all_pairs=all_pairs)
    found = index.nearest(queries, targets)
    slow = {query: slow_nearest(cases, query, targets) for query in queries}
    for query, (value, other) in slow.items():
        near = found.get(query)
        if value >= (0 if all_pairs else 0.8):
            assert near is not None and (near.similarity, near.other) == (pytest.approx(value), other)
        elif near is not None:
            assert near.similarity <= value + 1e-12
    assert sum(value >= 0.8 for value, _ in slow.values()) >= 20, "the comparison must have something to find"
    threshold = 0.9
    assert index.over(queries, targets, threshold) == {query for query, (value, _) in slow.items() if value > threshold}


def test_the_nearest_names_the_forms_that_are_alike() -> None:
    long = "let mut total = 0; for item in items { if item.kept { total += item.size * item.count; } } total"
    cases = {
        "a": {"as given": long.replace("+=", "-="), "as repaired": long},
        "b": {"as given": "something(else_altogether)", "as repaired": long.replace("0", "1")},
        "c": {"as given": "nothing.like(any, of, these) && never"},
    }
    found = Index(cases.items(), all_pairs=0).nearest(["a", "c"], ["b"])
    assert found == {"a": Near("a", "as repaired", "b", "as repaired", 1.0)}


@settings(max_examples=30)
@given(st.permutations(range(40)), st.sampled_from([0, 10_000]))
def test_the_order_of_cases_decides_nothing(order: list[int], all_pairs: int) -> None:
    made = generate("all", 40, 2)
    cases = [(made[place].case_id, forms(made[place])) for place in order]
    names = sorted(case for case, _ in cases)
    one, other = (Index(listed, all_pairs=all_pairs) for listed in (cases, sorted(cases, key=lambda item: item[0])))
    assert one.nearest(names[:15], names[15:]) == other.nearest(names[:15], names[15:])


def test_empty_sides_have_no_neighbours() -> None:
    index = Index([("a", {"as given": "fn f() {}"}), ("b", {"as given": "fn g() {}"})])
    assert index.nearest([], ["a"]) == index.nearest(["a"], []) == {}
    assert Index([]).nearest([], []) == {}


@pytest.mark.parametrize("at_once", [1, 50, 1 << 23])
def test_the_portions_in_which_pairs_are_counted_change_nothing(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tiebreak.audits.near.SHINGLES_AT_ONCE", at_once)
    sources = {f"c{n}": {"": f"{SOURCE} fn g{n % 3}() {{ {n} + a.b(c{n // 2}) }}"} for n in range(12)}
    queries, targets = list(sources)[:5], list(sources)[5:]
    by_pairs = Index(sources.items(), all_pairs=0).nearest(queries, targets)
    for case, near in Index(sources.items()).nearest(queries, targets).items():
        best = max(plain_similarity(sources[case][""], sources[other][""]) for other in targets)
        assert near.similarity == pytest.approx(best)
        assert case not in by_pairs or by_pairs[case].similarity == pytest.approx(best)
    assert by_pairs  # near ones are candidates too
