"""Training traces: each task's own program run in the very episode that the model will meet, every reply real.

*Detours* show an error and the way back from it; the turn that is deliberately wrong has `loss=False`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from random import Random

from tiebreak.chat import Message
from tiebreak.domains.base import TraceTurn
from tiebreak.domains.fathom.answers import CLOSE, OPEN, is_correct
from tiebreak.domains.fathom.calls import Budget, Responder, stub
from tiebreak.domains.fathom.episode import FathomEpisode, Settings
from tiebreak.domains.fathom.tasks import Task, pattern
from tiebreak.domains.fathom.templates import Template
from tiebreak.errors import BlueprintError

ASKING = 0.3
"""The share of the traces of single needles that ask `llm()` instead of searching."""


def program(task: Task) -> str:
    """Python that prints the gold answer, made from what the question asks about."""
    return code(task.form, task.key, task.parts)


def code(form: Template, key: str, parts: Iterable[str]) -> str:
    """Python that prints what the sentences of a template about `key` (and `parts`) come to."""
    found = f're.findall(r"{pattern(form, key, parts)}", ctx)'
    lines = {
        "one": f"print({found}[0])",
        "add": f"print(sum(int(n) for n in {found}))",
        "join": f'found = dict({found})\nprint("-".join(found[n] for n in sorted(found)))',
        "count": f"print(len({found}))",
    }
    return f"import re\n{lines[form.combine]}"


def asking(question: str) -> str:
    """Python that leaves the question to `llm()`."""
    return f'print(llm("{question}", ctx))'


def is_told(task: Task, respond: Responder) -> bool:
    """Whether `llm()` tells the answer; a decoy may share as many words with the question as the fact does."""
    return task.answer in respond(task.question, task.document, 1, Budget())


def fenced(code: str) -> str:
    """A turn that runs code."""
    return f"```python\n{code}\n```"


def answered(answer: str) -> str:
    """The turn that ends an episode."""
    return f"{OPEN}{answer}{CLOSE}"


def trace(
    task: Task,
    opening: Sequence[Message],
    rng: Random,
    *,
    settings: Settings,
    detours: float = 0.0,
    most_rounds: int = 2,
) -> list[TraceTurn]:
    """A demonstration after the `opening`: of a single turn, or of code, its real output and the answer.

    detours: the chance of a turn that fails (the import is missing) before the right one, where `most_rounds` allow it.
    Nobody plays yet, so where the policy is to answer `llm()` the stub shows what a good reply would be.
    Raises BlueprintError where the code does not print what the answer needs.
    """
    respond = settings.respond or stub
    plan: list[tuple[str, bool]] = []
    if settings.mode == "multi":
        asks = task.form.combine == "one" and rng.random() < ASKING and is_told(task, respond)
        plan = [(asking(task.question) if asks else program(task), True)]
        if not asks and most_rounds > 1 and rng.random() < detours:
            plan.insert(0, (program(task).removeprefix("import re\n"), False))
    episode = FathomEpisode(task.document, opening, tool_rounds=len(plan), settings=replace(settings, respond=respond))
    try:
        for text, _ in plan:
            episode.act(fenced(text))
            episode.run()
        last = episode.messages[-1]["content"] if plan else task.answer
        if task.answer not in last:
            raise BlueprintError(f"{task.case_id}: its program prints {last[:200]!r}, expected {task.answer!r} in it")
        episode.act(answered(task.answer))
    finally:
        episode.halt(episode.stop or "error")
    assert is_correct(episode.answer, task.answer)
    learnt = iter([*(loss for _, loss in plan), True])
    return [
        TraceTurn(role=turn["role"], content=turn["content"], loss=turn["role"] == "assistant" and next(learnt))
        for turn in episode.messages
    ]
