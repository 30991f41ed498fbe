"""Case folders: read whole, and each that is no case says why."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from domains.rust.imports.specs import LIBRARY, MANIFEST, spec

from tiebreak.domains.rust.imports.folders import read_folders
from tiebreak.domains.rust.imports.rows import parse_spec
from tiebreak.errors import BlueprintError


def write_case(folder: Path, name: str = "spec.json", **changes: Any) -> Path:
    """A case folder; its spec has no files of its own."""
    (folder / "src").mkdir(parents=True)
    (folder / "Cargo.toml").write_text(MANIFEST)
    (folder / "src/lib.rs").write_text(LIBRARY)
    (folder / name).write_text(json.dumps({key: value for key, value in spec(**changes).items() if key != "files"}))
    return folder


def test_folders_are_read_by_path_with_the_name_of_the_folder(tmp_path: Path) -> None:
    write_case(tmp_path / "train" / "b-2")
    write_case(tmp_path / "train" / "a-1", "blueprint.json")
    (tmp_path / "train/a-1/target/debug").mkdir(parents=True)
    (tmp_path / "train/a-1/target/debug/Cargo.toml").write_text("")
    (tmp_path / "train/a-1/Cargo.lock").write_text("")
    (tmp_path / "train/a-1/.hidden").write_text("")
    rows = read_folders(tmp_path, tmp_path)
    assert [(row.name, row.case_id) for row in rows] == [("a-1", "a_1"), ("b-2", "b_2")]
    assert [row.blueprint() for row in rows] == [parse_spec(json.dumps(spec()))] * 2


def test_a_spec_may_repeat_its_files_but_not_contradict_them(tmp_path: Path) -> None:
    same, other = write_case(tmp_path / "a"), write_case(tmp_path / "b")
    (same / "spec.json").write_text(json.dumps(spec()))
    (other / "spec.json").write_text(json.dumps(spec(files={"Cargo.toml": MANIFEST, "src/lib.rs": "pub fn f() {}\n"})))
    first, second = read_folders(tmp_path, tmp_path)
    assert first.blueprint().files["src/lib.rs"] == LIBRARY
    assert "its files are not those of the folder" in (second.error or "")


def link_out(folder: Path) -> None:
    (folder / "src/lib.rs").rename(folder.parents[1] / "outside.rs")
    (folder / "src/lib.rs").symlink_to(folder.parents[1] / "outside.rs")


BROKEN: list[tuple[str, Callable[[Path], object], str]] = [
    ("no spec", lambda folder: (folder / "spec.json").unlink(), "there is no spec.json or blueprint.json beside"),
    ("no JSON", lambda folder: (folder / "spec.json").write_text('{"family": '), "spec.json: no JSON"),
    ("no object", lambda folder: (folder / "spec.json").write_text("[]"), "spec.json: found a list"),
    ("a key twice", lambda folder: (folder / "spec.json").write_text('{"a": 1, "a": 2}'), "the key 'a' is given twice"),
    ("no source", lambda folder: (folder / "src/lib.rs").unlink(), "files: src/lib.rs missing"),
    ("a build script", lambda folder: (folder / "build.rs").write_text("fn main() {}"), "files: build.rs not allowed"),
    ("no UTF-8", lambda folder: (folder / "src/lib.rs").write_bytes(b"// \xff"), "src/lib.rs: byte 3 is no UTF-8"),
    ("Windows newlines", lambda folder: (folder / "src/lib.rs").write_bytes(b"a\r\nb"), "has carriage returns"),
    ("a link that leads out", link_out, "src/lib.rs leads out of the dataset, to "),
]


@pytest.mark.parametrize(("breaks", "says"), [row[1:] for row in BROKEN], ids=[row[0] for row in BROKEN])
def test_a_folder_that_is_no_case_says_why_and_the_others_are_kept(
    tmp_path: Path, breaks: Callable[[Path], object], says: str
) -> None:
    root = tmp_path / "data"
    write_case(root / "a")
    breaks(write_case(root / "b"))
    write_case(root / "c")
    first, bad, last = read_folders(root, root)
    assert first.blueprint() == last.blueprint()
    with pytest.raises(BlueprintError) as caught:
        bad.blueprint()
    assert says in str(caught.value)


def test_a_link_inside_the_dataset_is_a_file_of_it(tmp_path: Path) -> None:
    """As in the hub's cache, where a snapshot is links to blobs."""
    folder = write_case(tmp_path / "snapshots/1/case")
    (tmp_path / "blobs").mkdir()
    (folder / "src/lib.rs").rename(tmp_path / "blobs/abc")
    (folder / "src/lib.rs").symlink_to("../../../../blobs/abc")
    (row,) = read_folders(tmp_path / "snapshots/1", tmp_path)
    assert row.blueprint().files["src/lib.rs"] == LIBRARY
