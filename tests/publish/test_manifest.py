"""The manifest covers every file of a release but itself, and what the hub puts beside one."""

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
    (release / ".cache/huggingface").mkdir(parents=True)
    (release / ".cache/huggingface/x").write_text("")
    assert verdict(release).startswith("bit-exact")


def test_a_changed_a_missing_and_another_file_are_named(release: Path) -> None:
    (release / "results/x.csv").write_text("a\n2\n")
    assert verdict(release).startswith("differs: results/x.csv: SHA-256 is ")
    (release / "results/x.csv").unlink()
    assert verdict(release) == "differs: results/x.csv: 'absent', expected 'there by manifest.json'"
    (release / "results/x.csv").write_text("a\n1\n")
    (release / "results/.hidden").write_text("")
    assert verdict(release) == "differs: results/.hidden: 'there', expected 'absent by manifest.json'"


def test_what_is_no_manifest_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="not found; name the folder of a release"):
        manifest.read(tmp_path)
    for text in ("[]", "{", '{"format": 1}', '{"format": 2}'):
        (tmp_path / "manifest.json").write_text(text)
        with pytest.raises(DataError, match=r"manifest\.json: is "):
            manifest.read(tmp_path)


def test_the_files_of_a_model_give_the_digest_of_its_folder(tmp_path: Path) -> None:
    for name in ("model.safetensors", "a/b.json", "a-c.json", "config.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    files = {path.relative_to(tmp_path).as_posix(): file_digest(path) for path in tmp_path.rglob("*") if path.is_file()}
    assert digest_of(files) == path_digest(tmp_path)
