"""Files of specs: every bad line is a row with its own error, and the good ones around it are kept."""

import json
from pathlib import Path

import pytest
from domains.rust.imports.specs import BAD_LINES, reply, spec
from hypothesis import given
from hypothesis import strategies as st

from tiebreak.domains.rust.generator import generate
from tiebreak.domains.rust.imports.rows import identifier, parse_spec, read_rows
from tiebreak.errors import BlueprintError, DataError

FOUND_WHEN_PLAYED = {"find occurs twice"}


def written(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "specs.jsonl"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("what", sorted(set(BAD_LINES) - FOUND_WHEN_PLAYED))
def test_a_bad_line_says_what_is_wrong_and_the_others_are_kept(tmp_path: Path, what: str) -> None:
    line, says = BAD_LINES[what]
    good = reply("good", spec()).encode()
    rows = read_rows(written(tmp_path, good + line + reply("last", spec()).encode()))
    assert [row.name for row in rows][::2] == ["good", "last"]
    assert rows[0].blueprint() == rows[2].blueprint() == parse_spec(json.dumps(spec()))
    with pytest.raises(BlueprintError) as caught:
        rows[1].blueprint()
    assert says in str(caught.value)


def test_windows_line_ends_a_byte_order_mark_and_blank_lines_of_the_file_do_no_harm(tmp_path: Path) -> None:
    lines = (reply("a", spec()) + "\n" + reply("b", spec(case_id="two"))).replace("\n", "\r\n")
    rows = read_rows(written(tmp_path, b"\xef\xbb\xbf" + lines.encode()))
    assert [row.name for row in rows] == ["a", "b"]
    assert [row.blueprint().case_id for row in rows] == ["one_more", "two"]


def test_blueprints_are_taken_as_they_are(tmp_path: Path) -> None:
    items = generate("all", 3, 1)
    path = written(tmp_path, "".join(item.model_dump_json(exclude_none=False) + "\n" for item in items).encode())
    rows = read_rows(path)
    assert [(row.name, row.prefix) for row in rows] == [(item.case_id, "") for item in items]
    assert [row.blueprint() for row in rows] == items


@pytest.mark.parametrize(
    ("make", "says"),
    [(lambda path: None, "cannot be read: No such file"), (lambda path: path.write_bytes(b"\n \n"), "holds no line")],
)
def test_a_file_that_cannot_be_used_is_named(tmp_path: Path, make: object, says: str) -> None:
    path = tmp_path / "specs.jsonl"
    assert callable(make)
    make(path)
    with pytest.raises(DataError, match=says) as caught:
        read_rows(path)
    assert str(caught.value).startswith(str(path))


@given(st.binary(max_size=60))
def test_any_line_is_a_row_and_a_bad_one_a_blueprint_error(
    tmp_path_factory: pytest.TempPathFactory, line: bytes
) -> None:
    path = tmp_path_factory.mktemp("rows") / "specs.jsonl"
    path.write_bytes(reply("good", spec()).encode() + line)
    first, *others = read_rows(path)
    assert first.blueprint().case_id == "one_more"
    for row in others:
        with pytest.raises(BlueprintError):
            row.blueprint()


def test_a_published_name_becomes_an_identifier() -> None:
    assert (
        identifier("scale200-063-patch_test_pass-064", "booking_fix") == "scale200_063_patch_test_pass_064_booking_fix"
    )
    assert identifier("", "a b/ç") == "a_b_"
