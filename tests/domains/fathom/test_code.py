"""Fenced Python, and the textual count of calls."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiebreak.domains.fathom.code import blocks, textual_calls


def fenced(code: str, language: str = "python") -> str:
    return f"Let me look.\n```{language}\n{code}\n```\nDone."


@pytest.mark.parametrize("language", ["python", "py", "", "Python", " python", "python title=x"])
def test_python_and_bare_blocks_are_read(language: str) -> None:
    assert blocks(fenced("x = 1\nprint(x)", language)) == ["x = 1\nprint(x)"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("x = 1", []),
        ("```json\n{}\n```", []),
        ("```json\n{}\n```\n```py\na\n```", ["a"]),
        ("```\na\n```\n```\nb\n```", ["a", "b"]),
        ("````python\n```\na\n````", ["```\na"]),
        ("```python\nopen", ["open"]),
        ("```python\r\na\r\n```", ["a"]),
        ("use ```python\nno\n```", [""]),
        ("```python llm(1)```", []),
        ("  ```python\n  a\n  ```", ["  a"]),
    ],
)
def test_fences(text: str, found: list[str]) -> None:
    assert blocks(text) == found


@pytest.mark.parametrize(
    ("code", "count"),
    [
        ("llm('a', ctx)", 1),
        ("a = llm('a', ctx)\nb = llm('b', ctx)", 2),
        ("llm ('a')", 1),
        ("print(llm\n('a'))", 1),
        ("llm(llm('a'))", 2),
        ("# llm('a')", 0),
        ("x = 1  # llm('a') llm('b')", 0),
        ("s = \"llm('a')\"", 0),
        ("s = '''\nllm('a')\n'''", 0),
        ("s = f\"{llm('a')}\"", 0),
        ("llm\n('a')", 0),
        ("my_llm('a')\nllmx('a')", 0),
        ("x = llm", 0),
        ("", 0),
    ],
)
def test_names_before_a_parenthesis_count(code: str, count: int) -> None:
    assert textual_calls(fenced(code)) == count
    assert textual_calls(fenced(code, "py")) == textual_calls(fenced(code, "")) == count


def test_prose_and_other_languages_do_not_count() -> None:
    assert textual_calls("I would call llm('a', ctx) and llm(b).") == 0
    assert textual_calls(fenced("llm('a')", "json")) == 0


def test_attack_loops_and_aliases_hide_calls_from_the_text() -> None:
    """The textual count's known weakness, kept as published; executed calls have none (test_episode)."""
    assert textual_calls(fenced("for part in parts:\n    llm('a', part)")) == 1
    assert textual_calls(fenced("ask = llm\nask('a')\nask('b')")) == 0


@pytest.mark.parametrize(
    ("code", "count"),
    [
        ("llm('a'\nllm('b') # llm('c')", 2),
        ("if x:\nllm ('a')", 1),
        ("s = 'llm(", 1),
        ("x = 1\x00 llm('a')", 1),
        ("(" * 5000 + "llm('a')", 1),
    ],
)
def test_an_invalid_block_falls_back_to_its_text_without_comments(code: str, count: int) -> None:
    assert textual_calls(fenced(code)) == count


def test_an_open_fence_hides_nothing() -> None:
    assert textual_calls("```python\nllm('a')") == 1


@given(st.lists(st.sampled_from("```python|```|llm('a')|# llm(|x = '|)|if x:|\\|'''".split("|"))).map("\n".join))
def test_any_text_has_a_count_and_blocks_only_shrink_it(text: str) -> None:
    assert 0 <= textual_calls(text) <= text.count("llm(")
