"""Episodes that a script plays, through the episode that models meet: to be looked at, labelled as what they are."""

from collections.abc import Mapping, Sequence
from typing import Any

from tiebreak.chat import Message
from tiebreak.domains.fathom.generator import make
from tiebreak.domains.fathom.orders import Allowance, Order, as_turn
from tiebreak.domains.fathom.play import Play
from tiebreak.domains.fathom.tasks import Task
from tiebreak.domains.fathom.traces import program
from tiebreak.seeds import derive

CHARACTERS = 12_000
FIRST = "print(len(ctx))\nprint(ctx[:200])"
ABOUT = (
    "No language model was at work here: a script played these episodes, in the same REPL and with the same rewards. "
    "It knows each task's own program. Calls of llm() were answered by a stub that looks for sentences."
)


def scripts(task: Task) -> dict[str, list[str]]:
    """Ways to play a task, by name: turns with code; the last one's output is the answer."""
    asked = f"print(llm({task.question!r}, ctx).rstrip('.').split()[-1])"
    return {"searches with its task's program": [FIRST, program(task)], "asks llm()": [asked]}


def play(task: Task, codes: Sequence[str], order: Order, source: dict[str, Any], way: str) -> dict[str, Any]:
    """One episode, as `recorded` describes it."""
    live = Play(task, order, Allowance.of({}))
    turns = live.news()
    try:
        for code in codes:
            turns += taken(live, as_turn("code", code))
        turns += taken(live, as_turn("answer", turns[-1]["content"]))
        result, view = live.result(), live.view()
    finally:
        live.close()
    assert result is not None
    return {
        "label": f"recorded: a script that {way}; no language model",
        "source": source,
        "kind": task.family,
        "turns": turns,
        "facts": {"answer": result["answer"], "gold_answer": task.answer, **counts(view)},
        "stop": result["stop"],
        "correct": result["correct"],
        "terms": result["terms"],
        "rewards": result["rewards"],
        "tree": view["tree"],
    }


def taken(live: Play, content: str) -> list[Message]:
    """A turn, and what came of it."""
    live.turn(content)
    return [{"role": "assistant", "content": content}, *live.news()]


def counts(view: dict[str, Any]) -> dict[str, int]:
    """Of calls, by the names that stored facts have."""
    return {"calls": view["calls"], "refused": view["refused"], "depth": view["deepest"]}


def episodes(code: Mapping[str, Any], root_seed: int = 20261129) -> dict[str, Any]:
    """A task of each kind, played in each way; llm() is answered by the stub that recurses.

    code: what `provenance.git_state` says, for the labels.
    """
    order = Order(characters=CHARACTERS, responder="halving")
    found = []
    for kind in ("niah", "multi_needle", "extractive", "counting"):
        task = make(kind, CHARACTERS, derive(root_seed, "fathom", "script", kind), 0)
        for way, codes in scripts(task).items():
            source = {"script": "tiebreak serve --scripted", "root_seed": root_seed, **code}
            found.append(play(task, codes, order, source, way))
    return {"about": ABOUT, "episodes": found}
