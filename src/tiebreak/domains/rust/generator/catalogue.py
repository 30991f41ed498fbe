"""All templates by name."""

from collections.abc import Sequence
from typing import Literal

from tiebreak.domains.rust.generator import (
    bookings,
    branching,
    counting,
    dispatch,
    fallbacks,
    fields,
    gaps,
    handing,
    intervals,
    layers,
    lending,
    machines,
    marks,
    merging,
    ownership,
    parsing,
    places,
    podiums,
    ranking,
    reports,
    searching,
    spreading,
    states,
    stores,
    tallies,
    walking,
    windows,
)
from tiebreak.domains.rust.generator.sketch import Template
from tiebreak.errors import ConfigError

# New groups go to the end: a list of templates in a study is put into this order before anything is drawn.
GROUPS = (
    *(counting, ranking, parsing, branching, states, merging, intervals, ownership, lending, reports, searching),
    *(podiums, places, tallies, fields, marks, machines, stores, dispatch, layers, fallbacks, bookings, windows, gaps),
    *(handing, walking, spreading),
)
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
