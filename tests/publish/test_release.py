"""The study of a release is read the same from any folder; what is none is told in its own words."""

import json
from pathlib import Path
from typing import Any

import pytest

from tiebreak.errors import DataError
from tiebreak.publish.release import read_study
from tiebreak.study import Study, load


def released(folder: Path, values: Any) -> Path:
    """A folder with nothing but the study of a release."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "study.json").write_text(json.dumps({"format": 1, "study": values}), encoding="utf-8")
    return folder


def told(study: Study) -> dict[str, Any]:
    """A study as its release tells it."""
    return study.model_dump(mode="json", by_alias=True)


@pytest.mark.parametrize("name", ["laptop", "fathom-laptop"])
def test_a_study_of_a_base_in_a_folder_is_read_where_the_folder_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    study = load(name)
    assert study.model.is_folder
    monkeypatch.chdir(tmp_path)
    assert read_study(released(tmp_path / "release", told(study))) == study


def test_a_base_of_this_machine_says_nothing_of_a_released_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study, base = load("laptop"), tmp_path / "resources/base/model"
    base.mkdir(parents=True)
    (base / "adapter_config.json").write_text("{}")
    (base / "config.json").write_text("{}")
    (base.parent / "record.json").write_text('{"params": {"model": {"tiny": {}}}}')
    monkeypatch.chdir(tmp_path)
    assert read_study(released(tmp_path / "release", told(study))) == study


def test_an_imported_dataset_may_be_a_folder_of_another_machine(tmp_path: Path) -> None:
    values = told(load("laptop"))
    source = {"dataset": "specs", "revision": None, "specs": "specs.jsonl", "families": None}
    values["data"]["source"] = {"generate": None, "import": source, "llm": None}
    assert read_study(released(tmp_path, values)).data.source.files() == []


def test_what_is_wrong_with_a_study_is_told_in_words(tmp_path: Path) -> None:
    values = told(load("laptop"))
    values["statistics"]["alpha"] = "x"
    with pytest.raises(DataError, match=r'study\.json: statistics\.alpha is "x" \(string\); a number is expected'):
        read_study(released(tmp_path, values))


@pytest.mark.parametrize("text", ["[]", "7", "[" * 200_000, '{"study": 3}', '{"study": []}', "{}", "\udcff"])
def test_what_is_no_study_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "study.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(DataError, match=r"study\.json: is no study of a release"):
        read_study(tmp_path)
