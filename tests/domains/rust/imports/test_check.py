"""Specs checked with the real judge: outcomes by row, and the published verdicts on all 200."""

import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from domains.rust.imports.specs import BAD_LINES, GLYPH, patched, reply, spec

from tiebreak.domains.rust.imports.check import Checked, check
from tiebreak.domains.rust.imports.rows import read_rows
from tiebreak.domains.rust.verdicts import Judge

VERDICTS = TemporaryDirectory(prefix="verdicts")


@cache
def judge() -> Judge:
    return Judge(Path(VERDICTS.name), diagnostics="short")


def checked(tmp_path: Path, content: bytes) -> list[Checked]:
    path = tmp_path / "specs.jsonl"
    path.write_bytes(content)
    return check(read_rows(path), judge())


def test_every_row_has_its_outcome_in_order(tmp_path: Path) -> None:
    lines = [
        reply("good", spec()),
        reply("wrong-fix", patched(replace="n + 3")),
        reply("cut", json.dumps(spec())[:300]),
        reply("absent", patched(find="n + 7")),
        reply("same-name", spec()),
    ]
    good, wrong, cut, absent, same = checked(tmp_path, "".join(lines).encode())
    assert good == {"custom_id": "good", "outcome": "accepted", "step": None, "errors": []}
    assert wrong["errors"] == ["wrong-fix: step 3 cargo_test status failed != success"] and wrong["step"] == 3
    assert cut["step"] == 0 and cut["errors"][0].startswith("invalid JSON spec: ")
    assert absent["errors"] == ["absent: step 2: find occurs 0 times, expected once"] and absent["step"] == 2
    assert same["outcome"] == "accepted", "rows are told apart by custom_id, not by the case id inside"


def test_every_kind_of_bad_line_is_rejected_with_its_error(tmp_path: Path) -> None:
    content = [
        reply("good", spec()).encode(),
        *(line for line, _ in BAD_LINES.values()),
        reply("last", spec()).encode(),
    ]
    found = checked(tmp_path, b"".join(content))
    assert found[0]["outcome"] == found[-1]["outcome"] == "accepted"
    for item, (_, says) in zip(found[1:-1], BAD_LINES.values(), strict=True):
        assert item["outcome"] == "rejected" and says in item["errors"][0]


def test_progress_counts_every_row_once(tmp_path: Path) -> None:
    path = tmp_path / "specs.jsonl"
    path.write_text(reply("a", spec()) + "no JSON\n" + reply("b", patched(find="n")))
    done: list[int] = []
    check(read_rows(path), judge(), done.append)
    assert sum(done) == 3


@pytest.mark.slow
@pytest.mark.skipif(not GLYPH.is_dir(), reason="the published data (../shared/data) is absent")
def test_the_published_specs_are_accepted_and_rejected_as_published_at_the_same_step() -> None:
    rows = [json.loads(line) for line in (GLYPH / "specs.jsonl").read_text(encoding="utf-8").splitlines()]
    found = check(read_rows(GLYPH / "specs.jsonl"), judge())
    assert [item["custom_id"] for item in found] == [row["custom_id"] for row in rows]
    assert [item["outcome"] for item in found] == [row["published_outcome"] for row in rows]
    assert [item["errors"] for item in found] == [row["published_errors"] for row in rows]
    steps = [f"step {item['step']}" for item in found if item["step"]]
    assert len(steps) == 31 and all(
        step in item["errors"][0] for step, item in zip(steps, (item for item in found if item["step"]), strict=True)
    )
    assert sum(item["outcome"] == "accepted" for item in found) == 167
