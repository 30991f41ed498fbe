"""Plans as sets, and what is remembered."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiebreak.errors import HubError
from tiebreak.publish.memory import Memory
from tiebreak.publish.plan import Content, content_of, plan_of

PATHS = st.sampled_from(["a", "b/c", "d"])
IN_GIT = st.builds(lambda digit: Content(1, None, digit * 40), st.sampled_from("12"))
LARGE = st.builds(lambda digit: Content(1, digit * 64, None), st.sampled_from("12"))
OURS = st.builds(lambda digit: Content(1, digit * 64, digit * 40), st.sampled_from("12"))


@given(st.dictionaries(PATHS, OURS), st.dictionaries(PATHS, IN_GIT | LARGE))
def test_a_plan_sorts_every_path_once_and_carried_out_leaves_nothing(
    ours: dict[str, Content], theirs: dict[str, Content]
) -> None:
    plan = plan_of(ours, theirs)
    parts = [plan.added, plan.changed, plan.removed, plan.unchanged]
    assert sorted(path for part in parts for path in part) == sorted({*ours, *theirs})
    after = {path: content for path, content in theirs.items() if path not in plan.removed}
    after |= {path: ours[path] for path in plan.sent}
    assert plan_of(ours, after).is_empty
    assert plan.is_empty == (ours.keys() == theirs.keys() and all(ours[path].equals(theirs[path]) for path in ours))


def test_contents_without_a_common_digest_are_not_the_same() -> None:
    assert not Content(1, "1" * 64, None).equals(Content(1, None, "1" * 40))
    assert not Content(1, None, None).equals(Content(1, None, None))


def test_the_hub_s_own_file_stays() -> None:
    assert plan_of({}, {".gitattributes": Content(1, None, "1" * 40)}).is_empty


def test_a_blob_has_git_s_name(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes("text\0é".encode())
    git = subprocess.run(["git", "hash-object", str(path)], capture_output=True, text=True, check=True)
    assert content_of(path).blob == git.stdout.strip()
    with pytest.raises(HubError, match="is not there; make the release: ./dev snakemake"):
        content_of(tmp_path / "b")


def test_a_memory_survives_a_line_that_was_cut(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "sent.jsonl")
    files = {"a": Content(1, "1" * 64, "2" * 40)}
    memory.sending("r", "0" * 40, files)
    with memory.path.open("a") as file:
        file.write('{"repo": "r", "comm')
    memory.sent("r", "3" * 40)
    assert memory.commits("r") == {"3" * 40}
    assert memory.knows("r", "9" * 40, files) and memory.knows("r", "3" * 40, {})
    assert not memory.knows("other", "3" * 40, files) and not memory.knows("r", "9" * 40, {})
    memory.prepare()
    assert [path.name for path in tmp_path.iterdir()] == ["sent.jsonl"]
