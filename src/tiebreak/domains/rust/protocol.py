"""The protocol of the Rust domain: what an assistant turn asks for, and what a tool reply looks like.

Nothing here raises on what a model wrote: a turn that cannot be read is data.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from tiebreak.chat import END, WHITESPACE

READ_LIMIT = 4_000
OUTPUT_LIMIT = 8_000
CUT_MARK = "\n…[truncated]…\n"
CUT_RESERVE = 20  # the published toolbox keeps this many characters less before the mark than after it
CARGO_TOOLS = ("cargo_test", "cargo_run")
SOURCE_FILES = ("src/lib.rs", "src/main.rs")

_CALL = re.compile(r"CALL ([A-Za-z_][A-Za-z0-9_]*) (\{.*\})", re.DOTALL)
_GLUED = re.compile(r"^CALL[A-Z]", re.MULTILINE)
_FINAL = re.compile(r"^FINAL:", re.MULTILINE)


@dataclass(frozen=True)
class Call:
    """One tool call; `params` are the payload's values beside its `id`."""

    tool: str
    id: str
    params: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_cargo(self) -> bool:
        """Whether the call asks for a verdict."""
        return self.tool in CARGO_TOOLS

    @property
    def names_source(self) -> bool:
        """Whether this is a cargo call whose `project_path` names a source file: a protocol error."""
        return self.is_cargo and self.params.get("project_path", "").rstrip("/").endswith(SOURCE_FILES)


@dataclass(frozen=True)
class ParsedTurn:
    """An assistant turn, read.

    calls: the parsable calls in line order; malformed: lines that start as a call and are none; glued: lines that start
    with `CALL` and an upper-case letter; finals: line-initial `FINAL:`; opens_final: the turn begins with one.
    """

    calls: tuple[Call, ...] = ()
    malformed: int = 0
    glued: int = 0
    finals: int = 0
    opens_final: bool = False


def parse_turn(content: str) -> ParsedTurn:
    """Read an assistant turn, as it is rendered: stripped right, a closing tag of its own left aside."""
    text = content.rstrip(WHITESPACE).removesuffix(END).rstrip(WHITESPACE)
    read = [parse_call(line) for line in text.split("\n") if line.startswith("CALL ")]
    return ParsedTurn(
        calls=tuple(call for call in read if call is not None),
        malformed=sum(call is None for call in read),
        glued=len(_GLUED.findall(text)),
        finals=len(_FINAL.findall(text)),
        opens_final=text.startswith("FINAL:"),
    )


def format_call(tool: str, call_id: str, params: Mapping[str, str]) -> str:
    """The line of a call, as the published traces write it. Raises ValueError where no line can say it (a backtick)."""
    payload = json.dumps({"id": call_id, **params}, separators=(",", ":"), ensure_ascii=False)
    line = f"CALL {tool} {payload}"
    if parse_call(line) != Call(tool, call_id, params):
        raise ValueError(
            f"no call line can say {line[:200]!r}: a backtick, a lone surrogate, an empty id or a bad name"
        )
    return line


def parse_call(line: str) -> Call | None:
    """The call of a line that starts with `CALL `, or None if it is malformed.

    Where a payload repeats a key the last one counts, as in the published scorer. Text that UTF-8 cannot hold (a lone
    surrogate) makes a call malformed: neither a file nor a reply could carry it.
    """
    line = line.rstrip(WHITESPACE)
    match = _CALL.fullmatch(line)
    if match is None or "`" in line:  # a line that ends in a semicolon does not match
        return None
    payload = _payload(match[2])
    if payload is None or not payload.get("id"):
        return None
    return Call(match[1], payload["id"], {key: value for key, value in payload.items() if key != "id"})


def _payload(text: str) -> dict[str, str] | None:
    """The JSON object in `text` if all its values are strings."""
    try:
        payload = json.loads(text)
        if not isinstance(payload, dict) or not all(isinstance(value, str) for value in payload.values()):
            return None
        "".join([*payload, *payload.values()]).encode()
    except (ValueError, RecursionError):  # bad JSON, numbers of too many digits, lone surrogates; nesting too deep
        return None
    return payload


def cut(text: str, limit: int) -> str:
    """`text`, or its beginning and end with a mark between them, in at most `limit` characters (as published)."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return text[: max(half - CUT_RESERVE, 0)] + CUT_MARK + text[len(text) - half :]


def result_head(call_id: str) -> str:
    """What a reply to the call starts with; the status follows."""
    return f"RESULT {call_id}:\nstatus: "


def format_result(
    call_id: str,
    ok: bool,
    stdout: str = "",
    stderr: str = "",
    timed_out: bool = False,
    limit: int = OUTPUT_LIMIT,
) -> str:
    """The reply to a call: its status, then what was printed (stderr only on failure), cut in the middle at `limit`.

    The head is never cut, so that the reply can always be matched with its call.
    """
    sections = [f"stdout:\n{stdout}"] if stdout else []
    if stderr and not ok:
        sections.append(f"stderr:\n{stderr}")
    head = result_head(call_id) + ("success" if ok else "failed") + ("\ntimed_out: true" if timed_out else "")
    body = cut("\n".join(sections).rstrip(WHITESPACE), limit)
    return f"{head}\n{body}" if body else head
