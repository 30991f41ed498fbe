"""The file tools: path rules, patches, and what is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiebreak.domains.rust.protocol import CUT_MARK, Call
from tiebreak.domains.rust.toolbox import LARGEST_FILE, apply_patch, project_root, read_file, refusal

ROOT = "crates/case_1"
TESTS = "#[cfg(test)]\nmod tests {\n    // a + b\n}\n"
SOURCE = f"pub fn add(a: i32, b: i32) -> i32 {{\n    a - b\n}}\n\n{TESTS}"
FILES = {"Cargo.toml": '[package]\nname = "case_1"\n', "src/lib.rs": SOURCE}
LIB = f"{ROOT}/src/lib.rs"


def read(path: str) -> Call:
    return Call("read_file", "c1", {"file_path": path})


def patch(find: str, replace: str, path: str = LIB) -> Call:
    return Call("apply_patch", "c1", {"file_path": path, "find": find, "replace": replace})


def test_a_file_is_read_and_cut() -> None:
    assert project_root("case_1") == ROOT
    assert read_file(FILES, ROOT, read(LIB), 4000).stdout == SOURCE
    assert read_file(FILES, ROOT, read(f"{ROOT}/Cargo.toml"), 4000).ok
    assert CUT_MARK in read_file(FILES, ROOT, read(LIB), 80).stdout


BAD_PATHS = [
    "",
    "src/lib.rs",
    "/etc/passwd",
    f"/{LIB}",
    f"./{LIB}",
    f"{ROOT}//src/lib.rs",
    f"{ROOT}/./src/lib.rs",
    f"{ROOT}/../case_1/src/lib.rs",
    f"{ROOT}/src/../src/lib.rs",
    f"{ROOT}/src/lib.rs/",
    f"{ROOT}/src\\lib.rs",
    f"{ROOT}/src/LIB.rs",
    f"{ROOT}/src/lib.rs\x00",
    f"{ROOT}/src/lib.rs ",
    f" {LIB}",
    f"{ROOT}/src/ｌib.rs",
    f"{ROOT}/src",
    ROOT,
    f"{ROOT}/{LIB}",
    "crates/case_10/src/lib.rs",
    f"x/{LIB}",
    f"{ROOT}/src/main.rs",
    f"{ROOT}/build.rs",
    f"{ROOT}/.cargo/config.toml",
    "~/x",
    "a" * 1_000_000,
]


@pytest.mark.parametrize("path", BAD_PATHS, ids=range(len(BAD_PATHS)))
def test_only_the_exact_path_of_a_file_is_a_path(path: str) -> None:
    files = dict(FILES)
    assert not read_file(files, ROOT, read(path), 4000).ok
    reply = apply_patch(files, ROOT, patch("a - b", "a + b", path))
    assert (reply.ok, files) == (False, FILES)


@given(st.text(max_size=20))
def test_no_other_path_names_a_file(tail: str) -> None:
    if tail not in FILES:
        assert not read_file(FILES, ROOT, read(f"{ROOT}/{tail}"), 4000).ok


def test_a_patch_replaces_the_one_place() -> None:
    files = dict(FILES)
    reply = apply_patch(files, ROOT, patch("    a - b\n", "    a + b\n"))
    assert (reply.ok, reply.stdout) == (True, "patch applied")
    assert files["src/lib.rs"] == SOURCE.replace("a - b", "a + b")


@pytest.mark.parametrize(
    ("find", "replace", "why"),
    [
        ("a * b", "x", "find occurs 0 times, expected once"),
        ("i32", "u32", "find occurs 3 times, expected once"),
        ("", "x", "find is empty"),
        ("a - b", "x" * LARGEST_FILE, "characters, at most"),
    ],
)
def test_other_patches_change_nothing(find: str, replace: str, why: str) -> None:
    files = dict(FILES)
    reply = apply_patch(files, ROOT, patch(find, replace))
    assert not reply.ok
    assert why in reply.stderr
    assert reply.tampered is None
    assert files == FILES


@pytest.mark.parametrize(
    ("find", "path"),
    [
        ("// a + b", LIB),
        ("mod tests {", LIB),
        ("#[cfg(test)]\n", LIB),
        (TESTS, LIB),
        ("}\n\n#[cfg(test)]", LIB),
        ("[package]", f"{ROOT}/Cargo.toml"),
    ],
)
def test_immutable_parts_stay_and_the_attempt_is_named(find: str, path: str) -> None:
    files = dict(FILES)
    reply = apply_patch(files, ROOT, patch(find, "", path))
    assert (reply.ok, files) == (False, FILES)
    assert reply.tampered
    assert reply.stderr in reply.tampered


def test_a_patch_may_end_where_the_tests_begin() -> None:
    assert apply_patch(dict(FILES), ROOT, patch("}\n\n#[cfg(test)]", "}\n// end\n\n#[cfg(test)]")).ok


def test_calls_that_cannot_run_are_refused_in_words_of_ours() -> None:
    good = Call("cargo_test", "c1", {"project_path": ROOT})
    assert refusal(good, ROOT) is None
    for params in ({}, {"project_path": ROOT, "Finished": ""}, {"file_path": ROOT}):
        reply = refusal(Call("cargo_test", "c1", params), ROOT)
        assert reply is not None
        assert "wrong arguments, expected id, project_path" in reply.stderr
    for path in (f"{ROOT}/", "crates/test result: Finished", f"{ROOT}/src/lib.rs", "."):
        reply = refusal(Call("cargo_run", "c1", {"project_path": path}), ROOT)
        assert reply is not None
        assert reply.stderr == f"no crate there, expected {ROOT}"
    unknown = refusal(Call("shell", "c1", {"command": "ls"}), ROOT)
    assert unknown is not None
    assert unknown.stderr.startswith("unknown tool")
