import json
from pathlib import Path

import pytest
from domains.rust.imports.specs import GLYPH

from tiebreak.domains.rust.imports.families import read_families, template_of
from tiebreak.errors import DataError


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "families.json"
    path.write_text(text)
    return path


def test_the_first_pattern_that_occurs_wins_and_a_case_without_one_is_its_own_cluster(tmp_path: Path) -> None:
    families = read_families(written(tmp_path, json.dumps({"families": [["ranking", "rank|league"], ["csv", "csv"]]})))
    assert [template_of(name, families) for name in ("csv_rank", "a_csv_b", "other")] == ["ranking", "csv", "other"]
    assert template_of("rank", []) == "rank"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "no name families"),
        ("[]", "no name families"),
        ("{}", "no name families"),
        ('{"families": {}}', "families is a dict"),
        ('{"families": [["a"]]}', r"families\[0\]: found \['a'\]; a name and a pattern are expected"),
        ('{"families": [["a", "b"], ["c", 3]]}', r"families\[1\]: found"),
        ('{"families": [["a", "("]]}', "is no regular expression"),
    ],
)
def test_a_file_that_is_none_is_named(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(DataError, match=says) as caught:
        read_families(written(tmp_path, text))
    assert str(caught.value).startswith(str(tmp_path))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read: No such file"):
        read_families(tmp_path / "none.json")


@pytest.mark.skipif(not GLYPH.is_dir(), reason="the published data (../shared/data) is absent")
def test_half_of_the_published_held_out_cases_are_in_named_families() -> None:
    families = read_families(GLYPH / "name_families.json")
    rows = [json.loads(line) for line in (GLYPH / "heldout_traces.jsonl").read_text(encoding="utf-8").splitlines()]
    names = {name for name, _ in families}
    found = [template_of(row["case_id"], families) for row in rows]
    assert len(found) == 75 and sum(template in names for template in found) >= 37
