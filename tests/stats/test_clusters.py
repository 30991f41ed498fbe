import json
from pathlib import Path

import pytest

from tiebreak.errors import DataError
from tiebreak.stats.clusters import by_name, by_template, read_patterns
from tiebreak.stats.published import PATTERNS

FAMILIES = Path(__file__).parents[3] / "shared" / "data" / "glyph" / "name_families.json"


def test_the_first_pattern_wins_and_the_rest_stand_alone():
    clusters = by_name(["rank_csv", "csv_rank", "csv", "other", "ranking"], [("r", "^rank"), ("c", "csv")], "here")
    assert clusters.labels == [("family", "r"), ("family", "c"), ("family", "c"), ("alone", "other"), ("family", "r")]
    assert clusters.count == 3
    assert clusters.source == "here (first match wins; 1 of 5 cases match none and stand alone)"


def test_a_case_that_is_named_like_a_family_is_not_of_it():
    assert by_name(["c", "csv"], [("c", "csv")], "here").count == 2


def test_templates_or_nothing():
    assert by_template(["a", "b", "a"]).count == 2
    none = by_template(None)
    assert none.labels is None and none.count is None and none.source.startswith("none")


def test_patterns_are_read_in_order(tmp_path):
    path = tmp_path / "families.json"
    path.write_text(json.dumps({"note": "x", "families": [["b", "1"], ["a", "2"]]}))
    assert read_patterns(path) == [("b", "1"), ("a", "2")]
    path.write_text(json.dumps({"families": {"b": "1", "a": "2"}}))
    assert read_patterns(path) == [("b", "1"), ("a", "2")]


@pytest.mark.skipif(not FAMILIES.is_file(), reason="the published data (../shared/data) is absent")
def test_the_published_patterns_are_those_of_the_published_file():
    assert read_patterns(FAMILIES) == list(PATTERNS)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "no JSON"),
        ("[]", "no list `families`"),
        ('{"families": []}', "no list `families`"),
        ('{"families": [["a"]]}', r"families\[0\] is \['a'\]"),
        ('{"families": [["a", 1]]}', r"families\[0\]"),
        ('{"families": [["a", "("]]}', "no regular expression"),
    ],
)
def test_other_layouts_are_refused(tmp_path, text, says):
    path = tmp_path / "families.json"
    path.write_text(text)
    with pytest.raises(DataError, match=says):
        read_patterns(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(DataError, match=r"none\.json: cannot be read"):
        read_patterns(tmp_path / "none.json")
