"""Many sessions at once: each keeps its own document, names, counts and reward. `--sessions 200` is the proof."""

import asyncio
import re
from pathlib import Path

import pytest
from environments.fathom.serving import Server, dealt
from fathom_env import FathomAction, FathomEnv

from tiebreak.domains.fathom.traces import program


def code(text: str) -> FathomAction:
    return FathomAction(act="code", text=text)


async def play(server: Server, number: int, meeting: asyncio.Barrier) -> None:
    """One session; all have their document and names before any of them looks at them again."""
    task = dealt(seed=number, characters=2_000)
    async with FathomEnv(base_url=server.url, message_timeout_s=600, connect_timeout_s=300) as env:
        await env.reset(seed=number, characters=2_000)
        await env.step(code(f"mine = {number}\nmore = [llm('x', ctx) for _ in range(mine % 5)]"))
        await meeting.wait()
        told = (
            await env.step(code("import hashlib\nprint(mine, hashlib.sha256(ctx.encode()).hexdigest())"))
        ).observation
        assert told.messages[0]["content"] == f"{number} {digest(task.document)}" and told.calls == number % 5
        assert (await env.step(code(program(task)))).observation.messages[0]["content"] == task.answer
        await meeting.wait()
        answer = task.answer if number % 2 else f"not {task.answer}"
        ended = await env.step(FathomAction(act="answer", text=answer))
        assert ended.observation.result is not None
        assert ended.observation.result["correct"] == bool(number % 2)
        assert ended.reward == (pytest.approx(0.95 + 0.15 * max(0, 1 - number % 5 / 4)) if number % 2 else 0.25)


def digest(text: str) -> str:
    from hashlib import sha256

    return sha256(text.encode()).hexdigest()


def peak(server: Server) -> int:
    """The most memory that the server itself has held, in MiB."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(re.findall(r"VmHWM:\s+(\d+)", status)[0]) >> 10


def test_sessions_are_not_mixed_up(server: Server, pytestconfig: pytest.Config) -> None:
    count = pytestconfig.getoption("--sessions")

    async def all_of_them() -> None:
        meeting = asyncio.Barrier(count)
        async with asyncio.TaskGroup() as group:
            for number in range(count):
                group.create_task(play(server, number, meeting))

    asyncio.run(all_of_them())
    print(f"{count} sessions, at most {peak(server)} MiB in the server")
    assert server.gone()
