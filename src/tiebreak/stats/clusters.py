"""What a case is a cluster with: its template as the generator recorded it, or a family guessed from its name."""

import json
import re
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tiebreak.errors import DataError

Patterns = Sequence[tuple[str, str]]
LAYOUT = '{"families": [["name", "pattern"], …]}'


@dataclass(frozen=True)
class Clusters:
    """A label for each case, in the cases' order, and in words where the labels are from.

    `labels` is None, and `source` says so, where nothing tells which cases belong together.
    """

    source: str
    labels: list[Hashable] | None

    @property
    def count(self) -> int | None:
        """How many clusters there are."""
        return None if self.labels is None else len(set(self.labels))


def read_patterns(path: Path) -> Patterns:
    """The name patterns of a file, in its order. Raises DataError for any other layout and for a bad pattern."""
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}; name a file of name patterns") from error
    except ValueError as error:
        raise DataError(f"{path}: no JSON ({error}); {LAYOUT} is expected") from error
    families = stored.get("families") if isinstance(stored, dict) else None
    if isinstance(families, dict):
        families = [list(pair) for pair in families.items()]
    if not isinstance(families, list) or not families:
        raise DataError(f"{path}: no list `families`; {LAYOUT} is expected")
    for place, pair in enumerate(families):
        if not (isinstance(pair, list) and len(pair) == 2 and all(isinstance(part, str) for part in pair)):
            raise DataError(f"{path}: families[{place}] is {pair!r}; a name and a pattern are expected")
        try:
            re.compile(pair[1])
        except re.error as error:
            raise DataError(f"{path}: families[{place}]: {pair[1]!r} is no regular expression: {error}") from error
    return [(name, pattern) for name, pattern in families]


def by_name(names: Iterable[str], patterns: Patterns, source: str) -> Clusters:
    """The family of each name: the first pattern that is found in it; a name that holds none is a cluster by itself."""
    labels: list[Hashable] = [
        next((("family", family) for family, pattern in patterns if re.search(pattern, name)), ("alone", name))
        for name in names
    ]
    alone = len({label for label in labels if isinstance(label, tuple) and label[0] == "alone"})
    return Clusters(f"{source} (first match wins; {alone} of {len(labels)} cases match none and stand alone)", labels)


def by_template(templates: Sequence[Hashable] | None) -> Clusters:
    """The recorded template of each case, or no clusters where none is recorded."""
    if templates is None:
        return Clusters("none: no template is recorded in both evaluations, and no name patterns were given", None)
    return Clusters("the template column, as recorded when the cases were made", list(templates))
