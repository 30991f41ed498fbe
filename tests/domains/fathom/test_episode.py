"""Episodes: turns, the end, budgets, counts, and modes; every reply from the real REPL."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import pytest

from tiebreak.chat import Message
from tiebreak.domains.fathom.calls import Budget, stub
from tiebreak.domains.fathom.episode import FathomEpisode, Settings, reply
from tiebreak.domains.fathom.prompts import opening
from tiebreak.domains.fathom.repl import Ran
from tiebreak.errors import EngineError

TEXT = "The watch of Ada stopped at 10:07. A kind wind came.\n\nThe watch of Ben stopped at 11:09."
ANSWER = "So <answer>10:07</answer>"


def fenced(code: str) -> str:
    return f"Let me see.\n```python\n{code}\n```"


@contextmanager
def episode(*, tool_rounds: int = 4, text: str = TEXT, settings: Settings | None = None) -> Iterator[FathomEpisode]:
    live = FathomEpisode(text, opening("When?", text), tool_rounds=tool_rounds, settings=settings)
    try:
        yield live
    finally:
        live.halt(live.stop or "final")


def said(live: FathomEpisode, code: str) -> str:
    """The reply to a turn with code."""
    live.act(fenced(code))
    live.run()
    assert live.messages[-1]["role"] == "tool"
    return live.messages[-1]["content"]


def test_names_are_kept_between_turns_and_the_answer_ends_it() -> None:
    with episode() as live:
        assert said(live, "x = len(ctx)\nprint(x)") == str(len(TEXT))
        assert said(live, "print(x + 1)") == str(len(TEXT) + 1)
        assert said(live, "y = 1") == "(no output)"
        assert (live.stop, live.waiting) == (None, False)
        live.act(ANSWER)
        assert (live.stop, live.answer, live.calls) == ("final", "10:07", 0)
        with pytest.raises(ValueError, match="final"):
            live.act("more")


def test_code_beside_an_answer_is_not_run() -> None:
    with episode() as live:
        live.act(fenced("print(1)") + ANSWER)
        assert (live.stop, live.waiting, len(live.messages)) == ("final", False, 3)


def test_a_turn_with_neither_ends_it_without_an_answer() -> None:
    with episode() as live:
        live.act("I do not know. <answer>10:07")
        assert (live.stop, live.answer) == ("final", None)


def test_the_budget_of_rounds() -> None:
    with episode(tool_rounds=1) as live:
        said(live, "print(1)")
        live.act(fenced("print(2)"))
        assert (live.stop, live.waiting) == ("budget", False)


def test_all_blocks_of_a_turn_run_up_to_the_first_that_fails() -> None:
    with episode() as live:
        live.act(fenced("print(1)") + "\n" + fenced("1 / 0") + "\n" + fenced("print(3)"))
        live.run()
        assert live.messages[-1]["content"].splitlines() == [
            "1",
            "Traceback (most recent call last):",
            "  line 1, in <module>",
            "ZeroDivisionError: division by zero",
        ]
        assert [block.ok for block in live.ran] == [False]
        assert said(live, "print(4)") == "4"


def test_calls_are_answered_and_counted_loops_and_aliases_too() -> None:
    with episode() as live:
        assert said(live, "print(llm('the watch of Ben?', ctx))") == "The watch of Ben stopped at 11:09."
        assert live.calls == 1
        assert said(live, "ask = llm\nfor i in range(3):\n    ask('a', ctx)\nprint(repr(llm('zebra')))") == "''"
        assert (live.calls, live.budget.deepest) == (5, 1)


def test_the_budget_of_calls_holds_whatever_the_code_does() -> None:
    with episode(settings=Settings(most_calls=2)) as live:
        code = (
            "n = 0\nfor i in range(5):\n  try: n += bool(llm('a', ctx))\n  except RuntimeError as e: print(e)\nprint(n)"
        )
        assert said(live, code).splitlines() == ["llm: the budget of 2 calls is spent"] * 3 + ["2"]
        assert (live.calls, live.budget.refused) == (2, 3)
        assert "RuntimeError: llm: the budget of 2 calls is spent" in said(live, "llm('a', ctx)")


class Recursive:
    """A policy that asks itself one level deeper, and answers with the last line of what it is told."""

    def __init__(self, seen: list[int], number: int) -> None:
        self.tokens, self.seen, self.number = 0, seen, number

    def say(self, messages: Sequence[Message]) -> str | None:
        self.seen.append(self.number)
        self.tokens += 5
        if messages[-1]["role"] == "tool":
            return f"<answer>{messages[-1]['content'].splitlines()[-1]}</answer>"
        assert messages[-1]["content"].startswith("go on\n\n[Document excerpt]:\n")
        return fenced("print('deep ' + llm('go on', ctx))")


def test_the_policy_answers_within_the_depth() -> None:
    """Each level asks one deeper, until a call is refused; the innermost answers from its error."""
    seen: list[int] = []
    with episode(settings=Settings(most_depth=3, respond=None)) as live:
        live.meet(partial(Recursive, seen))
        assert said(live, "print(llm('go on', ctx))") == "deep deep RuntimeError: llm: calls go 3 deep at most"
        assert (live.calls, live.budget.deepest, live.budget.refused) == (3, 3, 1)
        assert seen == [1, 2, 3, 3, 2, 1]  # numbered by call, two turns each
        assert live.budget.tokens == 30


def test_a_turn_that_was_cut_answers_nothing() -> None:
    class Cut(Recursive):
        def say(self, messages: Sequence[Message]) -> str | None:
            return None

    with episode(settings=Settings(respond=None)) as live:
        live.meet(partial(Cut, []))
        assert said(live, "print(repr(llm('go on', ctx)))") == "''"
        assert live.calls == 1


def test_nobody_is_asked_where_nobody_plays() -> None:
    with episode(settings=Settings(respond=None)) as live, pytest.raises(EngineError, match="nobody told who"):
        said(live, "llm('go on', ctx)")
    with episode() as live:
        live.meet(partial(Recursive, []))  # the stub answers all the same
        assert said(live, "print(llm('When did the watch of Ben stop', ctx))") == "The watch of Ben stopped at 11:09."


def test_single_turn_mode_runs_nothing_and_counts_the_text() -> None:
    with episode(settings=Settings(mode="single")) as live:
        live.act(fenced("for i in ctx:\n    llm('a', i)"))
        assert (live.stop, live.answer, live.calls, live.waiting) == ("final", None, 1, False)


def test_long_output_is_cut_and_flagged() -> None:
    with episode(settings=Settings(output_limit=10)) as live:
        assert said(live, "print('ab' * 50)") == "ababababab\n[cut at 10 characters]"
        assert live.ran[0].cut
        assert said(live, "print('ab' * 5)") == "ababababab"
        assert not live.ran[1].cut


def test_the_end_of_the_repl_is_told() -> None:
    content, cut = reply(Ran("a\n", False, "it was killed for its time"), 100)
    assert (content, cut) == ("a\n[the REPL is gone, its names with it: it was killed for its time]", False)


def test_tokens_are_those_that_were_counted_or_else_estimates() -> None:
    with episode() as live:
        live.act("<answer>10:07</answer>")
        prompt_tokens, new_tokens = live.tokens
        assert (prompt_tokens > len(TEXT) / 4, new_tokens) == (True, 6)
        live.count(100, 7)
        assert live.tokens == (100, 7)


def test_the_same_code_prints_the_same_bytes() -> None:
    code = "print({'a', 'b', 'c'}, object(), hash('x'))\nf = lambda: 1\nprint(f)\n[].x"
    texts = []
    for _ in range(2):
        with episode() as live:
            texts.append(said(live, code))
    assert texts[0] == texts[1]


@pytest.mark.parametrize(
    ("prompt", "chunk", "text"),
    [
        ("watch of ben", TEXT, "The watch of Ben stopped at 11:09."),
        ("watch", TEXT, "The watch of Ada stopped at 10:07."),
        ("zebra", TEXT, ""),
        ("", TEXT, ""),
        ("watch", "", ""),
    ],
)
def test_the_stub_finds_the_nearest_sentence(prompt: str, chunk: str, text: str) -> None:
    assert stub(prompt, chunk, 1, Budget()) == text


def test_messages_go_on_from_the_opening() -> None:
    messages: list[Message] = [{"role": "user", "content": "q"}]
    live = FathomEpisode("t", messages, tool_rounds=1)
    live.act("x")
    assert messages == [{"role": "user", "content": "q"}]
    assert [turn["role"] for turn in live.messages] == ["user", "assistant"]
