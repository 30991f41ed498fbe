"""How values are written on a page, and the environment that its templates are rendered in."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from tiebreak.stats.sentences import p_value, plural, rate, signed

TEMPLATES = Path(__file__).parent / "templates"


def word(value: Any) -> str:
    """A value as a person reads it; nothing is a dash."""
    return "–" if value is None else str(value)


def interval(part: Mapping[str, Any] | None, form: Callable[[float], str] = rate) -> str:
    """`0.532 [0.470, 0.601]`; the value alone without bounds, a dash without a value."""
    if part is None or part["value"] is None:
        return "–"
    bounds = f" [{form(part['low'])}, {form(part['high'])}]" if part["low"] is not None else ""
    return f"{form(part['value'])}{bounds}"


def optional(value: float | None, form: Callable[[float], str] = rate) -> str:
    """A number, or a dash for none."""
    return "–" if value is None else form(value)


def change(part: Mapping[str, Any] | None) -> str:
    """An interval of differences, each with its sign."""
    return interval(part, signed)


def chance(test: Mapping[str, Any]) -> str:
    """The p of a test without its name, or its bound."""
    return p_value(test["p"], bound=test.get("bound", False)).removeprefix("p = ").removeprefix("p ")


def adjusted(p: float) -> str:
    """An adjusted p, to four decimals."""
    return p_value(p).removeprefix("p = ")


def short(digest: str | None) -> str:
    """The first digits of a digest, enough to find it by."""
    return word(digest)[:10]


def evidence(measure: Any) -> str:
    """A measure as indented JSON."""
    return json.dumps(measure, indent=1, ensure_ascii=False)


def many(number: float | None) -> str:
    """A large whole number with its thousands apart; a dash for none."""
    return "–" if number is None or number != number else f"{number:,.0f}"


def duration(seconds: float | None) -> str:
    """Seconds as `2 h 05 min`, `12.3 min` or `45 s`."""
    if seconds is None:
        return "–"
    if seconds < 60:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{seconds / 60:.1f} min"


FILTERS: dict[str, Callable[..., str]] = {
    "interval": interval,
    "change": change,
    "rate": optional,
    "chance": chance,
    "adjusted": adjusted,
    "evidence": evidence,
    "plural": plural,
    "short": short,
    "signed": signed,
    "many": many,
    "duration": duration,
}


def environment(templates: Path = TEMPLATES, *, escape: bool = True) -> Environment:
    """The environment of a folder of templates: everything escaped (for HTML), an unknown name is an error."""
    made = Environment(
        loader=FileSystemLoader(templates),
        autoescape=escape,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= FILTERS
    return made


def write(path: Path, text: str) -> Path:
    """Write a text file, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)
    return path
