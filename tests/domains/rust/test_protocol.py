"""Calls and replies as text: each rule of the protocol, and that nothing a model writes raises."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiebreak.chat import END
from tiebreak.domains.rust.protocol import CUT_MARK, Call, cut, format_call, format_result, parse_call, parse_turn

READ = 'CALL read_file {"id":"c1","file_path":"crates/a/src/lib.rs"}'
SAYABLE = st.text(st.characters(exclude_characters="`", exclude_categories=["Cs"]))
PARAMS = st.dictionaries(SAYABLE.filter(lambda key: key != "id"), SAYABLE, max_size=4)
NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,12}", fullmatch=True)


def test_a_call_line_is_read() -> None:
    assert parse_turn(READ).calls == (Call("read_file", "c1", {"file_path": "crates/a/src/lib.rs"}),)


def test_calls_come_in_line_order_and_text_around_them_is_passed_over() -> None:
    turn = parse_turn(f"First read.\n{READ}\nthen\n{READ.replace('c1', 'c2')}  \nthat is all")
    assert [call.id for call in turn.calls] == ["c1", "c2"]
    assert (turn.malformed, turn.glued, turn.finals, turn.opens_final) == (0, 0, 0, False)


@pytest.mark.parametrize(
    "line",
    [
        "CALL read_file",
        "CALL read_file {}",
        'CALL read_file {"file_path":"a"}',
        'CALL read_file {"id":"","file_path":"a"}',
        'CALL read_file {"id":1,"file_path":"a"}',
        'CALL read_file {"id":"c1","file_path":3}',
        'CALL read_file {"id":"c1","file_path":null}',
        'CALL read_file {"id":"c1","file_path":NaN}',
        'CALL read_file {"id":"c1","file_path":["a"]}',
        'CALL read_file {"id":"c1","file_path":"a"',
        'CALL read_file {"id":"c1"};',
        'CALL read_file {"id":"c1"} ;',
        'CALL read_file {"id":"c1"} please',
        'CALL apply_patch {"id":"c1","find":"`x`"}',
        'CALL read_file ["c1"]',
        'CALL read-file {"id":"c1"}',
        'CALL 1read {"id":"c1"}',
        'CALL réad {"id":"c1"}',
        'CALL  read_file {"id":"c1"}',
        'CALL read_file{"id":"c1"}',
        "CALL read_file {'id':'c1'}",
        'CALL read_file {"id":"c1","find":"\\ud800"}',
        'CALL read_file {"id":"\\udfff"}',
        'CALL read_file {"id":"c1","\\ud800":"a"}',
        'CALL read_file {"id":"c1","a":"tab\there"}',
        'CALL read_file {"id":"c1","a":' + "9" * 5000 + "}",
        'CALL read_file {"id":"c1","a":' + "[" * 100_000 + "}",
        'CALL read_file {"id":"c1","a":' + '{"a":' * 100_000 + "}",
    ],
)
def test_a_line_that_starts_as_a_call_and_is_none_is_malformed(line: str) -> None:
    turn = parse_turn(f"{READ}\n{line}")
    assert (len(turn.calls), turn.malformed) == (1, 1)


@pytest.mark.parametrize(
    "line", ["CALLread_file {}", "call read_file {}", ' CALL read_file {"id":"c1"}', "CALL", "CALLs"]
)
def test_other_lines_are_text(line: str) -> None:
    assert parse_turn(f"{line}\nx").calls == ()
    assert parse_turn(f"{line}\nx").malformed == 0


def test_of_a_repeated_key_the_last_value_counts() -> None:
    assert parse_call('CALL t {"id":"a","x":"1","id":"b","x":"2"}') == Call("t", "b", {"x": "2"})


def test_glued_calls_and_finals_are_counted_at_line_starts() -> None:
    turn = parse_turn("CALLRead x\nCALLREAD\n RECALLED CALLX\nFINAL: a\nnot FINAL: b\nFINAL: c\nFINALLY")
    assert (turn.glued, turn.finals, turn.opens_final, turn.malformed) == (2, 2, False, 0)
    assert parse_turn("FINAL: done").opens_final
    assert not parse_turn("Well.\nFINAL: done").opens_final


def test_only_a_newline_ends_a_line() -> None:
    for separator in ("\u2028", "\x85"):
        turn = parse_turn(f'CALL t {{"id":"a","x":"1{separator}CALL b"}}{separator}')
        assert len(turn.calls) + turn.malformed == 1
    assert parse_call('CALL t {"id":"a","x":"1\u20282"}') == Call("t", "a", {"x": "1\u20282"})


def test_a_closing_tag_of_the_turn_is_no_part_of_its_last_line() -> None:
    assert parse_turn(f"{READ}{END}\n") == parse_turn(READ)
    assert parse_turn(f"{READ}\n{END}") == parse_turn(READ)


def test_a_long_line_is_read() -> None:
    text = "x" * 1_000_000
    assert parse_turn(f'CALL apply_patch {{"id":"c1","find":"{text}"}}').calls[0].params["find"] == text
    assert parse_turn(f"CALL apply_patch {text}").malformed == 1


@given(
    st.text()
    | st.lists(st.sampled_from(["CALL ", "t ", '{"id":', '"a"', "}", "\n", "`", "FINAL:", ";", "\ud800"])).map("".join)
)
def test_no_turn_raises(content: str) -> None:
    turn = parse_turn(content)
    lines = content.split("\n")
    assert len(turn.calls) + turn.malformed <= sum(line.startswith("CALL ") for line in lines)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_a_payload_is_a_call_exactly_if_it_keeps_the_rules(payload: object) -> None:
    line = f"CALL tool {json.dumps(payload)}"
    texts = isinstance(payload, dict) and all(isinstance(value, str) for value in payload.values())
    fine = isinstance(payload, dict) and texts and bool(payload.get("id")) and "`" not in line
    assert (parse_call(line) is not None) == fine


@given(NAMES, SAYABLE.filter(bool), PARAMS)
def test_a_formatted_call_reads_back(tool: str, call_id: str, params: dict[str, str]) -> None:
    assert parse_turn(format_call(tool, call_id, params)).calls == (Call(tool, call_id, params),)


@pytest.mark.parametrize(
    ("tool", "call_id", "params"),
    [("t", "", {}), ("t t", "a", {}), ("t", "a", {"x": "`"}), ("t", "a", {"x": "\ud800"}), ("t", "a", {"id": "b"})],
)
def test_what_no_call_line_can_say_is_refused(tool: str, call_id: str, params: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="no call line"):
        format_call(tool, call_id, params)


def test_a_cargo_path_that_names_a_source_file_is_noticed() -> None:
    for path, named in [
        ("crates/a/src/lib.rs", True),
        ("src/main.rs/", True),
        ("crates/a", False),
        ("src/other.rs", False),
    ]:
        assert Call("cargo_test", "a", {"project_path": path}).names_source is named
        assert not Call("read_file", "a", {"project_path": path}).names_source
    assert not Call("cargo_test", "a", {}).names_source


def test_replies_have_the_published_form() -> None:
    assert format_result("c2", True, "patch applied") == "RESULT c2:\nstatus: success\nstdout:\npatch applied"
    assert format_result("c1", False, "41", "boom") == "RESULT c1:\nstatus: failed\nstdout:\n41\nstderr:\nboom"
    assert format_result("c1", False, "", "late", True) == "RESULT c1:\nstatus: failed\ntimed_out: true\nstderr:\nlate"
    assert format_result("c1", True, "", "warning") == "RESULT c1:\nstatus: success"
    assert format_result("c1", False) == "RESULT c1:\nstatus: failed"


def test_long_text_is_cut_in_the_middle() -> None:
    text = "a" * 5000 + "b" * 5000
    assert cut(text, 4000) == "a" * 1980 + CUT_MARK + "b" * 2000
    assert cut(text[:4000], 4000) == text[:4000]
    reply = format_result("c1", False, text, text)
    assert reply.startswith("RESULT c1:\nstatus: failed\nstdout:\naaa")
    assert reply.endswith("bbb")
    assert len(reply) <= len("RESULT c1:\nstatus: failed\n") + 8000


@given(st.text(), st.integers(0, 60))
def test_a_cut_keeps_the_limit_where_the_mark_fits(text: str, limit: int) -> None:
    assert len(cut(text, limit)) <= max(limit, limit // 2 + len(CUT_MARK))
