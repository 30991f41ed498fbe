"""Tasks over a generated document: seeded, at any context length, every gold answer computed and checked."""

import json
import os
import re
from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from tiebreak.domains.fathom.templates import BY_NAME, Kind, Template
from tiebreak.errors import BlueprintError

GENERATOR = "fathom-1"
EASY, MEDIUM = 8_000, 32_000  # characters


class Task(BaseModel):
    """A question over a document (a case of `domains.base`). `answer` never enters a prompt or a sandbox.

    key, parts: what the question asks about, from which traces and checks are made.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    case_id: str
    family: Kind
    template: str
    question: str
    document: str
    answer: str
    key: str
    parts: tuple[str, ...]
    generator: str
    seed: int

    @property
    def difficulty(self) -> str:
        """By the length of the document."""
        length = len(self.document)
        return "easy" if length <= EASY else "medium" if length <= MEDIUM else "hard"

    @property
    def depth(self) -> int:
        """How many attempts a demonstration takes: its one program finds the answer."""
        return 1

    @property
    def form(self) -> Template:
        """The template that the task came from."""
        return BY_NAME[self.template]


def pattern(form: Template, key: str, parts: Iterable[str]) -> str:
    """A regular expression that finds the sentences about `key` (and `parts`), with the value as its last group.

    The part is a group of its own where the order of the values matters.
    """
    part = "|".join(parts) if form.combine == "add" else r"(\d)"
    value = r"(\w+)" if form.combine == "count" else "([^.]+)"
    return (
        form.sentence.removesuffix(".").format(
            key=key, part=f"(?:{part})" if form.combine == "add" else part, value=value
        )
        + r"\."
    )


def problems(task: Task) -> list[str]:
    """What is wrong with a task, in words: a fact twice or missing, or an answer that also stands elsewhere."""
    form = task.form
    found = re.findall(pattern(form, task.key, task.parts), task.document)
    wanted = int(task.answer) if form.combine == "count" else max(1, len(task.parts))
    wrong = [] if len(found) == wanted else [f"{len(found)} sentences answer the question, expected {wanted}"]
    seen = occurrences(task.answer, task.document)
    once = 1 if form.combine == "one" else 0
    if seen != once:
        wrong.append(f"the answer stands {seen} times in the document, expected {once}")
    if task.answer in task.question:
        wrong.append("the question says the answer")
    return wrong


def occurrences(answer: str, text: str) -> int:
    """How often an answer stands in a text as whole words, whatever the case."""
    return len(re.findall(rf"(?<!\w){re.escape(answer.lower())}(?!\w)", text.lower()))


def load_tasks(path: Path) -> list[Task]:
    """The tasks of a JSONL file, in file order. Raises BlueprintError with file, line and field."""
    tasks = []
    with path.open(encoding="utf-8", newline="\n") as lines:
        for number, line in enumerate(lines, 1):
            try:
                tasks.append(Task.model_validate_json(line))
            except ValidationError as error:
                first = error.errors()[0]
                field = ".".join(map(str, first["loc"])) or "the line"
                raise BlueprintError(f"{path}: line {number}: {field}: {first['msg'].lower()}; make it anew") from None
    return tasks


def dump_tasks(path: Path, tasks: Iterable[Task]) -> None:
    """Write JSONL, one object a line; the file appears whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    with draft.open("w", encoding="utf-8", newline="\n") as out:
        out.writelines(json.dumps(task.model_dump(), ensure_ascii=False) + "\n" for task in tasks)
    os.replace(draft, path)
