"""JSON as releases hold it: a key once, no number that is none, and not nested without end."""

import json
from collections import Counter
from typing import Any, NoReturn


def parsed(text: str | bytes) -> Any:
    """The value of a JSON text. Raises ValueError for what is none, and for what two readers may read differently."""
    try:
        return json.loads(text, object_pairs_hook=once, parse_constant=no_number)
    except RecursionError:
        raise ValueError("is nested too deeply") from None


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object, whose keys stand there once."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice, _ = Counter(name for name, _ in pairs).most_common(1)[0]
        raise ValueError(f"key {twice!r} stands there twice")
    return found


def no_number(text: str) -> NoReturn:
    """Refuse NaN and the infinities, which are no JSON."""
    raise ValueError(f"{text} is no number of JSON")
