"""The manifest covers every file of a release but itself, and what the hub puts beside one."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from tiebreak.digest import file_digest
from tiebreak.errors import DataError
from tiebreak.provenance import path_digest
from tiebreak.publish import manifest
from tiebreak.publish.check_files import check_manifest, digest_of


@pytest.fixture
def release(tmp_path: Path) -> Path:
    (tmp_path / "results").mkdir()
    (tmp_path / "README.md").write_text("# a\n")
    (tmp_path / "results/x.csv").write_text("a\n1\n")
    manifest.write(tmp_path, manifest.Manifest("s", None, 7, manifest.digests(tmp_path), "d", {}))
    return tmp_path


def verdict(release: Path) -> str:
    (found,) = check_manifest(release, manifest.read(release))
    return f"{found.state}: {found.detail}"


def test_what_is_there_is_what_is_listed(release: Path) -> None:
    (release / ".gitattributes").write_text("*.zip filter=lfs\n")
    for name in (".cache/huggingface/CACHEDIR.TAG", ".cache/huggingface/download/tables/a.metadata", ".git/HEAD"):
        (release / name).parent.mkdir(parents=True, exist_ok=True)
        (release / name).write_text("")
    assert verdict(release).startswith("bit-exact")


@pytest.mark.parametrize(
    "name", [".cache/x.py", ".cache/huggingface/x.py", ".huggingface/run.sh", ".gitx/a", "a/.git/b"]
)
def test_another_file_in_a_hidden_folder_is_named(release: Path, name: str) -> None:
    (release / name).parent.mkdir(parents=True)
    (release / name).write_text("")
    assert verdict(release) == f"differs: {name}: 'there', expected 'absent by manifest.json'"


@pytest.mark.parametrize("target", ["/etc", "/etc/hostname", "results", "README.md", "gone"])
@pytest.mark.parametrize("name", ["all", "results/all"])
def test_a_link_is_refused_wherever_it_leads(release: Path, name: str, target: str) -> None:
    (release / name).symlink_to(target)
    with pytest.raises(DataError, match=rf"{name}: is a link, to {target}; a release holds files"):
        verdict(release)


def test_a_listed_file_may_not_become_a_link(release: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = (release / "results/x.csv").rename(tmp_path_factory.mktemp("other") / "x.csv")
    (release / "results/x.csv").symlink_to(elsewhere)
    with pytest.raises(DataError, match=r"results/x\.csv: is a link"):
        verdict(release)


def test_what_is_no_plain_file_is_refused(release: Path) -> None:
    os.mkfifo(release / "results/pipe")
    with pytest.raises(DataError, match="results/pipe: is no file"):
        verdict(release)


def test_a_copy_in_the_hub_s_cache_links_to_its_blobs(release: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    cache = tmp_path_factory.mktemp("datasets--a--b")
    snapshot = cache / "snapshots/c0"
    (cache / "blobs").mkdir()
    for number, path in enumerate(sorted(item for item in release.rglob("*") if item.is_file())):
        blob, place = cache / "blobs" / str(number), snapshot / path.relative_to(release)
        blob.write_bytes(path.read_bytes())
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(os.path.relpath(blob, place.parent))
    assert verdict(snapshot).startswith("bit-exact")


def test_a_changed_a_missing_and_another_file_are_named(release: Path) -> None:
    (release / "results/x.csv").write_text("a\n2\n")
    assert verdict(release).startswith("differs: results/x.csv: SHA-256 and size is ")
    (release / "results/x.csv").unlink()
    assert verdict(release) == "differs: results/x.csv: 'absent', expected 'there by manifest.json'"
    (release / "results/x.csv").write_text("a\n1\n")
    (release / "results/.hidden").write_text("")
    assert verdict(release) == "differs: results/.hidden: 'there', expected 'absent by manifest.json'"


def test_a_forged_size_is_named(release: Path) -> None:
    found = manifest.read(release)
    sizes = {name: {**said, "bytes": 7} for name, said in found.files.items()}
    manifest.write(release, replace(found, files=sizes))
    assert verdict(release).startswith("differs: README.md: SHA-256 and size is ")


def test_what_is_no_manifest_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="not found; name the folder of a release"):
        manifest.read(tmp_path)
    told = json.dumps({"format": 1, "study": "s", "commit": None, "root_seed": 7, "science": "d"})[:-1]
    for text in (
        "[]",
        "{",
        '{"format": 1}',
        '{"format": 2}',
        "[" * 200_000,
        told + ', "files": 7, "models": {}}',
        told + ', "files": {"a": "x"}, "models": {}}',
        told + ', "files": {"a": {"sha256": "x"}}, "models": {}}',
        told + ', "files": {}, "models": {"sft": 7}}',
        told + ', "files": {}, "files": {}, "models": {}}',
    ):
        (tmp_path / "manifest.json").write_text(text)
        with pytest.raises(DataError, match=r"manifest\.json: is "):
            manifest.read(tmp_path)


def test_the_files_of_a_model_give_the_digest_of_its_folder(tmp_path: Path) -> None:
    for name in ("model.safetensors", "a/b.json", "a-c.json", "config.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    files = {path.relative_to(tmp_path).as_posix(): file_digest(path) for path in tmp_path.rglob("*") if path.is_file()}
    assert digest_of(files) == path_digest(tmp_path)
