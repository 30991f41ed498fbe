"""All templates by name."""

from collections.abc import Sequence
from typing import Literal

from tiebreak.domains.rust.generator import (
    branching,
    counting,
    intervals,
    lending,
    merging,
    ownership,
    parsing,
    ranking,
    reports,
    searching,
    states,
)
from tiebreak.domains.rust.generator.sketch import Template
from tiebreak.errors import ConfigError

GROUPS = (counting, ranking, parsing, branching, states, merging, intervals, ownership, lending, reports, searching)
TEMPLATES: dict[str, Template] = {template.name: template for group in GROUPS for template in group.TEMPLATES}


def select(names: Literal["all"] | Sequence[str]) -> list[Template]:
    """The templates of these names, in catalogue order. Raises ConfigError for an unknown name or an empty list."""
    if names == "all":
        return list(TEMPLATES.values())
    if unknown := [name for name in names if name not in TEMPLATES]:
        raise ConfigError(f"templates: {', '.join(unknown)} unknown; expected some of {', '.join(TEMPLATES)}")
    if not names:
        raise ConfigError("templates: the list is empty; name some or say all")
    return [template for name, template in TEMPLATES.items() if name in names]
