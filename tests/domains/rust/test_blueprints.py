"""The blueprint's data contract."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiebreak.domains.rust.blueprints import Blueprint, dump_blueprints, load_blueprints, parse_blueprint, to_line
from tiebreak.domains.rust.generator import generate
from tiebreak.errors import BlueprintError

SPECS = Path(__file__).parents[4] / "shared" / "data" / "glyph" / "specs.jsonl"
published = pytest.mark.skipif(not SPECS.parent.is_dir(), reason="the published data (../shared/data) is absent")


def spec(**changes: object) -> dict[str, object]:
    """A small sound spec in the published form, with changes."""
    sound: dict[str, object] = {
        "family": "patch_test_pass",
        "case_id": "one_small_case",
        "bug_category": "parsing_validation",
        "difficulty": "easy",
        "user": "Fix {project_root}.",
        "expected_tool_sequence": ["read_file", "apply_patch", "cargo_test"],
        "expected_output": None,
        "files": {"Cargo.toml": "[package]\n", "src/lib.rs": "pub fn one() -> i32 { 2 }\n"},
        "steps": [
            {"tool": "read_file", "file_path": "src/lib.rs"},
            {"tool": "apply_patch", "file_path": "src/lib.rs", "find": "2", "replace": "1"},
            {"tool": "cargo_test", "expect_status": "success"},
        ],
        "final": "FINAL: done.",
    }
    return sound | changes


def parsed(**changes: object) -> Blueprint:
    return parse_blueprint(json.dumps(spec(**changes)))


@published
def test_198_of_the_200_published_specs_parse_and_the_other_two_are_cut_off() -> None:
    refused = []
    for line in SPECS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        try:
            blueprint = parse_blueprint(row["text"])
        except BlueprintError as error:
            refused.append((row["custom_id"], [str(error)] == row["published_errors"]))
        else:
            assert parse_blueprint(to_line(blueprint)) == blueprint
            assert blueprint.hidden_checks == [] and blueprint.template == ""
    assert refused == [("scale200-083-patch_run_pass-012", True), ("scale200-160-patch_test_recover-049", True)]


def test_a_family_decides_source_and_cargo_tool() -> None:
    tests, runs = parsed(), next(item for item in generate("all", 40, 3) if item.runs)
    assert (tests.source_path, tests.cargo_tool) == ("src/lib.rs", "cargo_test")
    assert (runs.source_path, runs.cargo_tool) == ("src/main.rs", "cargo_run")


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"family": "patch_all"}, "family"),
        ({"difficulty": "harder"}, "difficulty"),
        ({"colour": "red"}, "colour"),
        ({"final": 3}, "final"),
        ({"case_id": "../one"}, "case_id"),
        ({"case_id": "éa"}, "case_id"),
        ({"user": "Fix it."}, "project_root"),
        ({"expected_output": "3"}, "expected_output"),
        ({"files": {"Cargo.toml": ""}}, "src/lib.rs missing"),
        ({"files": {"Cargo.toml": "", "src/lib.rs": "", "build.rs": ""}}, "build.rs not allowed"),
        ({"files": {"Cargo.toml": "", "src/lib.rs": "a\r\n"}}, "carriage"),
        ({"expected_tool_sequence": ["read_file"]}, "expected_tool_sequence"),
        ({"steps": [{"tool": "read_file"}]}, "read_file takes"),
        ({"steps": [{"tool": "cargo_test", "expect_status": "fine"}]}, "expect_status"),
        ({"steps": [], "expected_tool_sequence": []}, "needs a cargo_test step"),
    ],
)
def test_each_breach_of_the_contract_is_named(changes: dict[str, object], says: str) -> None:
    with pytest.raises(BlueprintError, match=says):
        parsed(**changes)


@pytest.mark.parametrize("key", sorted(spec()))
def test_a_missing_key_is_named(key: str) -> None:
    rest = {name: value for name, value in spec().items() if name != key}
    with pytest.raises(BlueprintError, match=key):
        parse_blueprint(json.dumps(rest))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(st.text() | JSON.map(json.dumps))
def test_any_text_parses_or_is_a_blueprint_error(text: str) -> None:
    with pytest.raises(BlueprintError):
        parse_blueprint(text)


@given(st.sampled_from(sorted(spec())), JSON)
def test_any_value_of_a_key_parses_or_is_a_blueprint_error(key: str, value: object) -> None:
    try:
        blueprint = parsed(**{key: value})
    except BlueprintError:
        return
    assert parse_blueprint(to_line(blueprint)) == blueprint


def test_files_come_back_as_they_were_written_and_name_a_bad_line(tmp_path: Path) -> None:
    path, items = tmp_path / "data" / "blueprints.jsonl", generate("all", 20, 1)
    dump_blueprints(path, items)
    assert load_blueprints(path) == items
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]
    path.write_text(path.read_text() + '{"family": 1}\n')
    with pytest.raises(BlueprintError, match=r"blueprints.jsonl: line 21: "):
        load_blueprints(path)


def test_a_failed_dump_leaves_the_old_file(tmp_path: Path) -> None:
    path, items = tmp_path / "blueprints.jsonl", generate("all", 2, 1)
    dump_blueprints(path, items)
    before = path.read_bytes()
    with pytest.raises(AttributeError):
        dump_blueprints(path, [items[0], None])  # type: ignore[list-item]
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]
