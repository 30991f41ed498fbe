"""The warm-up teaches copying alone: what is copied stands in the reading, and every line can be sent as a call."""

import json
from collections.abc import Iterator
from itertools import islice
from random import Random
from typing import Any

from tiebreak.digest import text_digest
from tiebreak.domains.base import TraceTurn
from tiebreak.domains.rust.blueprints import to_line
from tiebreak.domains.rust.corpus import PIECE, copy_exercises, crates, scramble, stages
from tiebreak.domains.rust.protocol import parse_turn


def calls(exercises: Iterator[list[TraceTurn]]) -> Iterator[tuple[list[str], dict[str, str]]]:
    """Each call's parameters with the lines of its reading."""
    for user, tool, assistant in islice(exercises, 40):
        assert [turn["loss"] for turn in (user, tool, assistant)] == [False, False, True]
        turn = parse_turn(assistant["content"])
        assert not turn.malformed and turn.calls
        for call in turn.calls:
            yield tool["content"].split("stdout:\n")[1].split("\n"), dict(call.params)


def test_what_is_copied_stands_in_the_reading(cases: list[Any]) -> None:
    for scrambled in (0.0, 1.0):
        for lines, params in calls(copy_exercises(cases, Random(3), scrambled)):
            assert params["find"] in lines and params["replace"] in lines
            assert "`" not in json.dumps(params)


def test_a_scrambled_line_keeps_its_form(cases: list[Any]) -> None:
    line = "    if size > LIMIT + 12 {"
    found = {scramble(line, ["aa", "bb", "7"], Random(seed)) for seed in range(30)}
    assert len(found) > 10
    assert {PIECE.sub("x", item) for item in found} == {PIECE.sub("x", line)}


def test_stages_share_all_tokens_and_the_first_is_plain(cases: list[Any]) -> None:
    found = stages(cases, Random(1))
    assert sum(stage.share for stage in found) == 1.0
    pool = {line for case in cases for line in case.files[case.source_path].splitlines()}
    assert all(params["find"] in pool for _, params in calls(found[0].exercises))
    assert any(params["find"] not in pool for _, params in calls(found[1].exercises))


def test_the_crates_that_the_checked_in_base_has_read_stay_the_same_bytes() -> None:
    lines = "\n".join(to_line(case) for case in crates(20261129, 120))
    assert text_digest(lines) == "b491de660248d5b960b513cd96457b19d0f5291ad386d54718d2f5c7006d758b"
