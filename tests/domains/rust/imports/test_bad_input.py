"""The table of bad input: each kind is an error of its own that names the place, and good rows beside it are kept."""

from collections.abc import Callable
from pathlib import Path

import pytest
from domains.rust.imports.hub import COMMIT, NAME, Hub
from domains.rust.imports.specs import BAD_LINES, reply, spec

from tiebreak.domains.rust.generator import generate
from tiebreak.domains.rust.imports.dataset import folder_digest
from tiebreak.domains.rust.materialize import materialize
from tiebreak.domains.rust.sources import Generated, Imported, collect
from tiebreak.domains.rust.verdicts import Judge
from tiebreak.errors import DataError

# As a study's owner meets them: what is wrong with a spec, and what its reject says.
SPECS = {
    "a missing key": "steps: Field required",
    "find occurs twice": "step 2: find occurs 4 times, expected once",
    "find given twice": "the key 'find' is given twice in one object; keep one",
    "Windows newlines": "files: src/lib.rs has carriage returns; Unix newlines are expected",
    "half a surrogate pair": "final: holds half a surrogate pair (U+D800 to U+DFFF), which is no text",
    "a file that escapes": "files: ../../etc/motd not allowed; Cargo.toml, src/lib.rs are expected",
    "a patch that escapes": "step 2: ../one/src/lib.rs is no file of the crate",
    "a bad case id": "case_id '../x': letters, digits and underscores are expected",
    "a truncated reply": "invalid JSON spec: Unterminated string",
    "a truncated line": "no JSON (Unterminated string",
}


def folder(root: Path, name: str, content: bytes) -> Imported:
    """A source with one file of specs."""
    (root / name).mkdir()
    (root / name / "specs.jsonl").write_bytes(content)
    return Imported(str(root / name), specs="specs.jsonl")


@pytest.mark.parametrize("what", SPECS)
def test_a_bad_spec_is_a_reject_and_the_good_ones_are_cases(what: str, tmp_path: Path) -> None:
    good = [reply(name, spec()).encode() for name in ("first", "last")]
    drawn = collect([folder(tmp_path, "own", good[0] + BAD_LINES[what][0] + good[1])], 1)
    cases, rejects = materialize(drawn.blueprints, Judge(tmp_path / "verdicts"))
    assert [case.case_id for case in cases] == ["first_one_more", "last_one_more"]
    (error,) = [error for reject in [*drawn.rejects, *rejects] for error in reject["errors"]]
    assert SPECS[what] in error
    name = "line 2" if what == "a truncated line" else what
    assert error.replace("_", " ").startswith(name), "it names the row"


def test_no_two_kinds_have_the_same_error() -> None:
    assert len(set(SPECS.values())) == len(SPECS)


def test_an_id_of_two_sources_is_kept_once_and_the_rest_of_both(tmp_path: Path) -> None:
    twice, other = generate("all", 2, 1)
    one = folder(tmp_path, "one", reply("a", spec()).encode())
    two = folder(tmp_path, "two", reply("a", spec()).encode() + reply("b", spec()).encode())
    three = folder(tmp_path, "three", (twice.model_dump_json() + "\n").encode())
    drawn = collect([Generated("all", 2), one, two, three], 1)
    assert [item.case_id for item in drawn.blueprints] == [twice.case_id, other.case_id, "a_one_more", "b_one_more"]
    assert [reject["errors"] for reject in drawn.rejects] == [
        [f"{name}: this id was used before; ids must be unique over all sources"]
        for name in ("a_one_more", twice.case_id)
    ]


def cut_short(hub: Hub, root: Path) -> Imported:
    """A hub whose connection breaks."""
    hub.cut = 20
    return Imported(NAME, COMMIT, "specs.jsonl")


def cut_in_the_cache(hub: Hub, root: Path) -> Imported:
    """A download that the disk lost a part of."""
    source = Imported(NAME, COMMIT, "specs.jsonl")
    source.draw(1)
    (path,) = (root / "cache").rglob("snapshots/*/specs.jsonl")
    path.resolve().write_bytes(path.read_bytes()[:50])
    return source


def wrong_commit(hub: Hub, root: Path) -> Imported:
    """A commit that the dataset does not have."""
    return Imported(NAME, "f" * 40, "specs.jsonl")


def changed_folder(hub: Hub, root: Path) -> Imported:
    """A folder that is not what the study pinned."""
    source = folder(root, "own", reply("a", spec()).encode())
    pinned = folder_digest(root / "own")
    (root / "own" / "more.jsonl").write_text("{}\n")
    return Imported(source.dataset, pinned, "specs.jsonl")


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (cut_short, f"dataset {NAME} at {COMMIT}: the download failed: .*; run again: what has arrived is kept"),
        (cut_in_the_cache, "specs.jsonl has 50 bytes here and .* its download was cut short; remove .* and run again"),
        (wrong_commit, f"{NAME} at {'f' * 40}: the hub's dataset has no such commit; copy it from the dataset's hist"),
        (changed_folder, "have the digest .*, the study's revision is .*; they were changed: put them back, or name"),
    ],
)
def test_a_source_that_is_not_what_was_asked_for_stops_with_its_own_error(
    make: Callable[[Hub, Path], Imported], says: str, hub: Hub, tmp_path: Path
) -> None:
    source = make(hub, tmp_path)
    with pytest.raises(DataError, match=says):
        source.draw(1)


def test_a_download_that_was_cut_short_is_gone_on_with(hub: Hub, tmp_path: Path) -> None:
    source = cut_short(hub, tmp_path)
    with pytest.raises(DataError):
        source.draw(1)
    hub.cut = None
    assert [item.case_id for item in source.draw(1).blueprints] == ["a_1_one_more"]
