"""Datasets: folders by their digest, and the hub's (a server on the loopback) by their commit."""

from pathlib import Path

import huggingface_hub
import pytest
from domains.rust.imports.hub import COMMIT, FILES, NAME, Hub
from huggingface_hub import constants

from tiebreak.domains.rust.imports.dataset import fetch, folder_digest
from tiebreak.domains.rust.sources import Imported
from tiebreak.errors import DataError


def test_a_folder_is_pinned_by_the_digest_of_its_files(tmp_path: Path) -> None:
    folder = tmp_path / "crates"
    (folder / "more").mkdir(parents=True)
    for name, content in FILES.items():
        (folder / name).write_bytes(content)
    digest = folder_digest(folder)
    found = fetch(str(folder), digest)
    assert found == fetch(str(folder), None)
    assert (found.root, set(found.names)) == (folder, set(FILES))
    (folder / ".hidden").write_text("")
    (folder / ".cache").mkdir()
    (folder / ".cache" / "download.metadata").write_text("a time")
    assert folder_digest(folder) == digest
    (folder / "README.md").write_text("# Crate\n")
    with pytest.raises(DataError, match=f"have the digest {folder_digest(folder)}, the study's revision is {digest}"):
        fetch(str(folder), digest)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no such folder; name a folder, or a dataset of the hub"):
        fetch(str(tmp_path / "none"), None)


def test_what_is_wanted_is_downloaded_at_its_commit_and_once(hub: Hub) -> None:
    found = fetch(NAME, COMMIT, ["specs.jsonl"])
    assert (found.root / "specs.jsonl").read_bytes() == FILES["specs.jsonl"]
    assert not (found.root / "README.md").exists() and set(found.names) == set(FILES)
    assert all(COMMIT in path for path in hub.asked if NAME in path), hub.asked
    before = len(hub.asked)
    assert fetch(NAME, COMMIT, ["specs.jsonl"]) == found and len(hub.asked) == before


def test_a_whole_dataset_without_patterns(hub: Hub) -> None:
    found = fetch(NAME, COMMIT)
    assert {name: (found.root / name).read_bytes() for name in FILES} == FILES
    assert (found.root / "specs.jsonl").resolve().is_relative_to(found.inside)


def test_a_wrong_revision(hub: Hub) -> None:
    with pytest.raises(DataError, match=f"{NAME} at {'f' * 40}: the hub's dataset has no such commit"):
        fetch(NAME, "f" * 40)


def test_a_wrong_name(hub: Hub) -> None:
    with pytest.raises(DataError, match="the hub has no such dataset, or it is private"):
        fetch("someone/else", COMMIT)


def test_a_gated_dataset(hub: Hub) -> None:
    hub.gated = True
    with pytest.raises(DataError, match="the dataset is gated; ask for access, and set HF_TOKEN"):
        fetch(NAME, COMMIT)


def test_a_download_that_is_cut_short_and_gone_on_with(hub: Hub) -> None:
    hub.cut = 20
    with pytest.raises(DataError, match=r"the download failed: .*; run again: what has arrived is kept"):
        fetch(NAME, COMMIT, ["specs.jsonl"])
    hub.cut = None
    assert (fetch(NAME, COMMIT, ["specs.jsonl"]).root / "specs.jsonl").read_bytes() == FILES["specs.jsonl"]


def test_a_file_of_the_cache_that_was_cut_short_later(hub: Hub) -> None:
    path = fetch(NAME, COMMIT, ["specs.jsonl"]).root / "specs.jsonl"
    path.resolve().write_bytes(FILES["specs.jsonl"][:50])
    with pytest.raises(DataError, match=rf"specs.jsonl has 50 bytes here and {len(FILES['specs.jsonl'])} on the hub"):
        fetch(NAME, COMMIT, ["specs.jsonl"])


def test_without_network_a_whole_copy_serves_and_a_part_does_not(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    found = fetch(NAME, COMMIT, ["specs.jsonl"])
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert fetch(NAME, COMMIT, ["specs.jsonl"]) == found
    with pytest.raises(
        DataError, match="cannot be reached, and there is no whole copy in its cache|the download failed"
    ):
        fetch(NAME, COMMIT)


def test_without_network_and_without_a_copy(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(DataError, match="the hub cannot be reached, and there is no whole copy in its cache"):
        fetch(NAME, COMMIT)


def test_an_import_from_the_hub(hub: Hub) -> None:
    drawn = Imported(NAME, COMMIT, "specs.jsonl").draw(1)
    assert [item.case_id for item in drawn.blueprints] == ["a_1_one_more"] and drawn.rejects == []
    with pytest.raises(DataError, match=r"there is no spec.jsonl; its JSONL files are .*more/other.jsonl"):
        Imported(NAME, COMMIT, "spec.jsonl").draw(1)


def test_the_client_is_asked_for_the_commit_and_the_files(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the client does inside, it is called with the pinned commit."""
    asked: dict[str, object] = {}

    def refuse(*names: str, **options: object) -> str:
        asked.update(options, names=names)
        raise OSError("no space left\nand more")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", refuse)
    with pytest.raises(DataError, match="the download failed: no space left; run again"):
        fetch(NAME, COMMIT, ["specs.jsonl"])
    assert asked == {"names": (NAME,), "repo_type": "dataset", "revision": COMMIT, "allow_patterns": ["specs.jsonl"]}
