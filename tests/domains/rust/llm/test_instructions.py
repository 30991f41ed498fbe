"""The words of a request hold what the materializer asks for, and its schema what a sound spec is."""

import json
from dataclasses import replace
from typing import get_args

import jsonschema
import pytest
from domains.rust.imports.specs import GLYPH
from domains.rust.llm.server import REPLY_KEYS, loose

from tiebreak.domains.rust.blueprints import Blueprint, Family, to_line
from tiebreak.domains.rust.generator import generate
from tiebreak.domains.rust.llm.instructions import SYSTEM, messages, reply_schema, wish
from tiebreak.domains.rust.llm.orders import CATEGORIES, Order, orders
from tiebreak.errors import BlueprintError

FAMILIES = list(get_args(Family))
ORDERS = orders(FAMILIES, list(CATEGORIES), ["easy", "medium", "hard"], 60, 1)


def ordered(item: Blueprint) -> Order:
    """The order that an existing spec would be the reply to."""
    tools = [step.tool for step in item.steps]
    failures = tools.count(item.cargo_tool) - 1
    family, category, level = item.family, item.bug_category, item.difficulty
    return replace(ORDERS[0], family=family, category=category, difficulty=level, failures=failures)


def test_every_key_family_and_rule_is_explained() -> None:
    keys = [name for name in REPLY_KEYS if f"- {name}" not in SYSTEM and f"{name}, " not in SYSTEM]
    assert [name for name in keys if name not in ("difficulty",)] == []
    assert [family for family in FAMILIES if family not in SYSTEM] == []
    for rule in ("exactly once", "{project_root}", "edition", "backtick", '"FINAL:"', "Unix newlines", "#[cfg(test)]"):
        assert rule in SYSTEM
    assert "`" not in SYSTEM


def test_a_request_says_what_is_wanted() -> None:
    for order in ORDERS:
        system, user = messages(order)
        assert (system["role"], user["role"], system["content"]) == ("system", "user", SYSTEM)
        for text in (order.family, order.category, CATEGORIES[order.category], order.difficulty, order.subject):
            assert text in user["content"]
        assert (f"wrong attempts before the right one: {order.failures}" in wish(order)) == (order.failures > 0)


def test_schemas_are_strict() -> None:
    for order in ORDERS:
        schema = reply_schema(order)
        jsonschema.Draft202012Validator.check_schema(schema)
        assert list(loose(schema, "schema")) == [] and list(schema["properties"]) == REPLY_KEYS


@pytest.mark.parametrize("family", FAMILIES)
def test_our_own_specs_fit_the_schema_of_their_order(family: Family) -> None:
    for item in generate("all", 12, 5, families={family: 1.0}):
        reply = {key: value for key, value in json.loads(to_line(item)).items() if key in REPLY_KEYS}
        jsonschema.validate(reply, reply_schema(ordered(item)))
        for broken in ({key: reply[key] for key in reply if key != "steps"}, reply | {"template": "x"}):
            with pytest.raises(jsonschema.ValidationError):
                jsonschema.validate(broken, reply_schema(ordered(item)))


@pytest.mark.skipif(not GLYPH.is_dir(), reason="the published data (../shared/data) is absent")
def test_the_published_replies_fit_the_schema_of_their_order() -> None:
    from tiebreak.domains.rust.imports.rows import read_rows

    checked = 0
    for row in read_rows(GLYPH / "specs.jsonl"):
        try:
            item = row.blueprint()
        except BlueprintError:
            continue
        jsonschema.validate(json.loads(row.text), reply_schema(ordered(item)))
        checked += 1
    assert checked == 198
