"""TOML that we write is what Python's own parser reads."""

import tomllib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tiebreak.errors import ConfigError
from tiebreak.training.prime_rl.toml import dumps

# TOML has no surrogates, and a key may be any text
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
PLAIN = st.one_of(
    st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False, allow_infinity=False), TEXT
)
VALUES = st.recursive(
    st.one_of(PLAIN, st.lists(PLAIN, max_size=3)),
    lambda inner: st.one_of(
        st.dictionaries(TEXT, inner, max_size=3),
        st.lists(st.dictionaries(TEXT, inner, max_size=3), min_size=1, max_size=3),
    ),
    max_leaves=8,
)


@settings(deadline=None, max_examples=60)
@given(st.dictionaries(TEXT, VALUES, max_size=4))
def test_what_is_written_reads_back(values: dict[str, Any]) -> None:
    assert tomllib.loads(dumps(values)) == values


@pytest.mark.parametrize("value", [None, float("nan"), float("inf"), [None], object()])
def test_what_toml_cannot_say_is_named(value: object) -> None:
    with pytest.raises(ConfigError, match=r"^a\.b is .*which TOML cannot say"):
        dumps({"a": {"b": value}})
