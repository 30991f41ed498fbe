"""The one prompt function, its budget, and the fault that the parity gate is for."""

from hypothesis import given
from hypothesis import strategies as st

from tiebreak.audits.parity import first_difference
from tiebreak.chat import parse, render
from tiebreak.domains.fathom.generator import generate
from tiebreak.domains.fathom.prompts import SYSTEM_MESSAGE, estimated_tokens, excerpt, opening

TASK = generate(2, 1, {3_000: 1.0})[0]


def test_the_published_layout() -> None:
    system, user = opening(TASK.question, TASK.document, excerpt_tokens=50)
    assert system == {"role": "system", "content": SYSTEM_MESSAGE}
    assert user == {"role": "user", "content": f"{TASK.question}\n\n[Document excerpt]:\n{TASK.document[:200]}"}
    assert opening(TASK.question, TASK.document, "Be brief.")[0]["content"] == "Be brief."
    assert parse(render(opening(TASK.question, TASK.document))) == opening(TASK.question, TASK.document)


def test_the_fault_is_found_at_its_first_byte() -> None:
    right, wrong = (render(opening(TASK.question, TASK.document, drifted=drifted)) for drifted in (False, True))
    assert f"Context:\n{TASK.document[:1024]}\n\n{TASK.question}" in wrong
    found = first_difference(right, wrong)
    assert found is not None
    assert right[found.offset :].startswith(TASK.question[:1])
    assert wrong[found.offset :].startswith("C") or TASK.question.startswith("C")


def test_a_document_within_the_budget_is_shown_whole() -> None:
    assert opening(TASK.question, TASK.document, excerpt_tokens=10**6)[1]["content"].endswith(TASK.document)


@given(st.text(max_size=300), st.integers(0, 90))
def test_the_excerpt_is_the_longest_beginning(text: str, tokens: int) -> None:
    for count in (estimated_tokens, len, words):
        shown = excerpt(text, tokens, count)
        assert text.startswith(shown)
        assert count(shown) <= tokens
        assert shown == text or count(text[: len(shown) + 1]) > tokens


def words(text: str) -> int:
    """Words begun: a count that never falls as a text grows."""
    return len(text.split())
