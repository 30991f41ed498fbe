"""Many REPLs at once: each keeps its own names, text and count."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tiebreak.domains.fathom.episode import FathomEpisode


def turn(episode: FathomEpisode, code: str) -> str:
    episode.act(f"```python\n{code}\n```")
    episode.run()
    return episode.messages[-1]["content"]


def play(pool: ThreadPoolExecutor, count: int) -> None:
    episodes = [FathomEpisode(f"The number is {n}.", [], tool_rounds=4) for n in range(count)]

    def all_say(code: str) -> list[str]:
        return list(pool.map(turn, episodes, [code] * count))

    try:
        assert all_say("mine = ctx.split()[-1]\nprint(mine)") == [f"{n}." for n in range(count)]
        assert all_say("print(mine, llm('number', ctx))") == [f"{n}. The number is {n}." for n in range(count)]
        assert all_say("print([llm('x') for _ in range(int(mine[:-1]) % 5)])")
        assert [episode.calls for episode in episodes] == [1 + n % 5 for n in range(count)]
    finally:
        for episode in episodes:
            episode.halt("final")


def test_twenty_sessions_are_not_mixed_up() -> None:
    with ThreadPoolExecutor(4) as pool:
        play(pool, 20)


@pytest.mark.slow
def test_two_hundred_sessions_are_not_mixed_up() -> None:
    with ThreadPoolExecutor(4) as pool:
        play(pool, 200)
