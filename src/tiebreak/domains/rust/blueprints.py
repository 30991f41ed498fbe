"""The blueprint: a task's spec before it ran. Published specs parse as they are; ours record where they came from."""

import json
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from tiebreak.errors import BlueprintError

Family = Literal[
    "patch_test_pass", "patch_run_pass", "patch_test_recover", "patch_run_recover", "test_only", "run_only"
]
Difficulty = Literal["easy", "medium", "hard"]
Tool = Literal["read_file", "apply_patch", "cargo_test", "cargo_run"]
CARGO_TOOLS = ("cargo_test", "cargo_run")
GENERATOR = "tiebreak-"  # what the name of our own generator begins with
PROJECT_ROOT = "{project_root}"
MANIFEST = "Cargo.toml"


class Strict(BaseModel):
    """A frozen record that refuses unknown keys and wrong types."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Step(Strict):
    """One planned tool call: a read, a patch (`find`, `replace`), or a cargo call with the status it must have."""

    tool: Tool
    file_path: str | None = None
    find: str | None = None
    replace: str | None = None
    expect_status: Literal["success", "failed"] | None = None

    @model_validator(mode="after")
    def _fields_fit_the_tool(self) -> Self:
        needed = {"read_file": {"file_path"}, "apply_patch": {"file_path", "find", "replace"}}
        wanted = needed.get(self.tool, {"expect_status"})
        given = {name for name in type(self).model_fields if name != "tool" and getattr(self, name) is not None}
        if given != wanted:
            raise ValueError(f"{self.tool} takes {sorted(wanted)}, found {sorted(given)}")
        return self


class Check(Strict):
    """A hidden check: `expr`, as seen from `use super::*`, prints `expect` under `{:?}` in the reference fix."""

    expr: str
    expect: str


class Blueprint(Strict):
    """A task's spec (docs/contracts.md). `bug_kind` names the mutation of a generated one; the others have none."""

    family: Family
    case_id: str
    bug_category: str
    difficulty: Difficulty
    user: str
    expected_tool_sequence: list[Tool]
    expected_output: str | None
    files: dict[str, str]
    steps: list[Step]
    final: str
    template: str = ""
    generator: str = ""
    seed: int = 0
    bug_kind: str = ""
    hidden_checks: list[Check] = []

    @property
    def generated(self) -> bool:
        """Whether our own generator made it."""
        return self.generator.startswith(GENERATOR)

    @property
    def runs(self) -> bool:
        """Whether the case's cargo calls are `cargo_run`."""
        return "run" in self.family

    @property
    def source_path(self) -> str:
        """The file under repair."""
        return "src/main.rs" if self.runs else "src/lib.rs"

    @property
    def depth(self) -> int:
        """How many cargo calls the plan makes: one, and one more for each failure to recover from."""
        return sum(step.tool in CARGO_TOOLS for step in self.steps)

    @property
    def cargo_tool(self) -> Literal["cargo_test", "cargo_run"]:
        """The cargo call of the family."""
        return "cargo_run" if self.runs else "cargo_test"

    @model_validator(mode="after")
    def _contract(self) -> Self:
        complaints = (*_unwritable(self), *_text_complaints(self), *_file_complaints(self), *_step_complaints(self))
        for complaint in complaints:
            raise ValueError(complaint)
        return self


def _unwritable(blueprint: Blueprint) -> Iterable[str]:
    """Half a surrogate pair is a string in JSON and cannot be written to any file."""
    for name in type(blueprint).model_fields:
        value = getattr(blueprint, name)
        if any("\ud800" <= sign <= "\udfff" for sign in _text_of(value)):
            yield f"{name}: holds half a surrogate pair (U+D800 to U+DFFF), which is no text"


def _text_of(value: object) -> str:
    """All text inside a value, one after the other."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return "".join(_text_of(part) for pair in value.items() for part in pair)
    if isinstance(value, BaseModel):
        return "".join(_text_of(getattr(value, name)) for name in type(value).model_fields)
    return "".join(map(_text_of, value)) if isinstance(value, list | tuple) else ""


def _text_complaints(blueprint: Blueprint) -> Iterable[str]:
    if not blueprint.case_id.replace("_", "").isalnum() or not blueprint.case_id.isascii():
        yield f"case_id {blueprint.case_id!r}: letters, digits and underscores are expected"
    if PROJECT_ROOT not in blueprint.user:
        yield f"user: {PROJECT_ROOT} is missing; say where the crate is"
    if blueprint.runs != (blueprint.expected_output is not None):
        yield "expected_output: a string in the run families and null in the test families is expected"


def _file_complaints(blueprint: Blueprint) -> Iterable[str]:
    allowed = {MANIFEST, "src/lib.rs", "src/main.rs"} if blueprint.runs else {MANIFEST, "src/lib.rs"}
    missing = {MANIFEST, blueprint.source_path} - set(blueprint.files)
    if missing:
        yield f"files: {', '.join(sorted(missing))} missing"
    if surplus := set(blueprint.files) - allowed:
        yield f"files: {', '.join(sorted(surplus))} not allowed; {', '.join(sorted(allowed))} are expected"
    for path, text in blueprint.files.items():
        if "\r" in text:
            yield f"files: {path} has carriage returns; Unix newlines are expected"


def _step_complaints(blueprint: Blueprint) -> Iterable[str]:
    tools = [step.tool for step in blueprint.steps]
    if tools != blueprint.expected_tool_sequence:
        yield f"expected_tool_sequence: {blueprint.expected_tool_sequence} but the steps are {tools}"
    if blueprint.cargo_tool not in tools:
        yield f"steps: {blueprint.family} needs a {blueprint.cargo_tool} step"
    for number, step in enumerate(blueprint.steps, 1):
        if step.file_path is not None and step.file_path not in blueprint.files:
            yield f"step {number}: {step.file_path} is no file of the crate"


def parse_blueprint(text: str) -> Blueprint:
    """One JSON object as a blueprint. Raises BlueprintError that names the field and what was found there."""
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise BlueprintError(f"invalid JSON spec: {error}") from error
    try:
        return Blueprint.model_validate(data)
    except ValidationError as error:
        raise BlueprintError("; ".join(_readable(problem) for problem in error.errors())) from error


def _readable(problem: object) -> str:
    assert isinstance(problem, dict)
    place = ".".join(str(part) for part in problem["loc"])
    text = str(problem["msg"]).removeprefix("Value error, ")
    return f"{place}: {text}" if place else text


def to_line(blueprint: Blueprint) -> str:
    """The blueprint as one line of JSON with sorted keys, without its line end; absent fields of steps are left out."""
    data = blueprint.model_dump()
    data["steps"] = [{key: value for key, value in step.items() if value is not None} for step in data["steps"]]
    return json.dumps(data, sort_keys=True, ensure_ascii=False)


def load_blueprints(path: Path) -> list[Blueprint]:
    """The blueprints of a JSONL file, in file order. Raises BlueprintError with file and line."""
    items: list[Blueprint] = []
    with path.open(encoding="utf-8", newline="\n") as lines:
        for number, line in enumerate(lines, 1):
            try:
                items.append(parse_blueprint(line))
            except BlueprintError as error:
                raise BlueprintError(f"{path}: line {number}: {error}") from error
    return items


def dump_blueprints(path: Path, items: Iterable[Blueprint]) -> None:
    """Write JSONL, one object a line; the file appears whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, draft = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as out:
            out.writelines(to_line(item) + "\n" for item in items)
        os.chmod(draft, 0o644)
        os.replace(draft, path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise
