import json

import pytest
from stats import evaluations

from tiebreak.errors import DataError
from tiebreak.stats.stored import load, refuse_one_under_two_names, refuse_unlike

GRADED = [0, 1, 4]


def test_every_layout_of_ours_gives_the_same_counts(tmp_path):
    rows = evaluations.rollouts(GRADED)
    table = load(evaluations.parquet(tmp_path / "a.parquet", rows))
    assert table.table[["case_id", "n", "graded", "valid"]].to_numpy().tolist() == [
        ["case_000", 4, 0, 1],
        ["case_001", 4, 1, 2],
        ["case_002", 4, 4, 4],
    ]
    assert (table.layout, table.k, table.repetitions, table.has_templates) == ("rollouts", 4, 1, True)
    for name in ("a.jsonl", "a.jsonl.zst"):
        lines = load(evaluations.jsonl(tmp_path / name, rows))
        assert lines.table.astype(str).equals(table.table.astype(str)), name
        assert lines.samples["seeds"].tolist() == table.samples["seeds"].tolist()


def test_the_published_layout_with_either_name_of_its_count(tmp_path):
    for field in ("valid_trace_solves", "valid_solves"):
        found = load(evaluations.published(tmp_path / "a.json", [0, 3, 8], field=field))
        assert found.table["valid"].tolist() == [0, 3, 8]
        assert (found.layout, found.k, found.outcomes, found.retained) == ("published", 8, ("valid",), False)
    kept = load(evaluations.published(tmp_path / "a.json", [0, 3, 8], traces="x", cargo_solves=8))
    assert kept.outcomes == ("valid", "success") and kept.retained


def test_a_folder_holds_repetitions(tmp_path):
    for repetition in range(2):
        folder = tmp_path / "sparse-seed0" / f"rep{repetition}"
        folder.mkdir(parents=True)
        evaluations.parquet(folder / "rollouts.parquet", evaluations.rollouts(GRADED, repetition=repetition))
    assert load(str(tmp_path / "sparse-seed0")).repetitions == 2


def test_files_joined_by_commas_are_repetitions(tmp_path):
    first, second = (evaluations.published(tmp_path / f"{n}.json", [n, 8]) for n in (0, 1))
    found = load(f"{first},{second}")
    assert found.repetitions == 2
    assert found.table["valid"].tolist() == [0, 8, 1, 8]


def test_infrastructure_errors_are_no_samples(tmp_path):
    rows = evaluations.rollouts([4, 4])
    rows[0] |= {"stop": "error", "graded": None, "valid": False, "success": False, "facts": None}
    for path in (evaluations.parquet(tmp_path / "a.parquet", rows), evaluations.jsonl(tmp_path / "a.jsonl", rows)):
        found = load(path)
        assert found.table[["n", "errors", "graded"]].to_numpy().tolist() == [[3, 1, 3], [4, 0, 4]]
        assert found.k == 4


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"name": None}, "row 1: name is None"),
        ({"k": 7}, r"k is 7 in case case_001 and 8 in case_000"),
        ({"k": 0}, "impossible"),
        ({"valid_trace_solves": 9}, r"row 1 \(case_001\): 9 of k = 8 rollouts solved it"),
        ({"valid_trace_solves": float("nan")}, "valid_trace_solves is nan; a whole number"),
        ({"valid_trace_solves": -1}, "valid_trace_solves is -1"),
        ({"valid_trace_solves": 2.5}, "valid_trace_solves is 2.5"),
        ({"valid_trace_solves": True}, "valid_trace_solves is True"),
        ({"valid_solves": 4}, "valid_trace_solves 3 and valid_solves 4; they must agree"),
        ({"name": "case_000"}, "case case_000 stands there twice"),
        ({"rollouts": [{"valid_trace": True}] * 7}, "7 rollouts are kept, k is 8"),
        ({"rollouts": "none"}, "rollouts is str"),
        ({"k": 10**9}, "k is 1000000000; at most 100000"),
    ],
)
def test_damaged_rows_are_refused(tmp_path, change, says):
    path = tmp_path / "a.json"
    evaluations.published(path, [2, 3])
    rows = json.loads(path.read_text())
    rows[1] |= change
    path.write_text(json.dumps(rows))
    with pytest.raises(DataError, match=says):
        load(str(path))


def test_rollouts_that_contradict_their_count_are_named(tmp_path):
    path = tmp_path / "a.json"
    evaluations.published(path, [2, 3], traces="x")
    assert load(str(path)).files[0].doubt is None
    rows = json.loads(path.read_text())
    rows[1]["rollouts"][0]["valid_trace"] = False
    path.write_text(json.dumps(rows))
    found = load(str(path))
    assert found.table["valid"].tolist() == [2, 3]
    assert "in 1 cases (case_001) the kept rollouts are marked valid" in found.files[0].doubt


@pytest.mark.parametrize("text", ["{}", "[]", "[1]", '[{"case": 1}]'])
def test_other_json_is_refused(tmp_path, text):
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(DataError, match="not the published layout; a list of rows with name, k"):
        load(str(tmp_path / "a.json"))


def test_rows_without_a_count_are_refused(tmp_path):
    (tmp_path / "a.json").write_text('[{"name": "x", "k": 8, "pass_at_k": 0.5}]')
    with pytest.raises(DataError, match="neither valid_trace_solves nor valid_solves"):
        load(str(tmp_path / "a.json"))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"graded": float("nan")}, "a.jsonl:2: graded is nan; true or false"),
        ({"valid": "yes"}, "a.jsonl:2: valid is 'yes'"),
        ({"sample": True}, "a.jsonl:2: sample is True; a whole number"),
        ({"graded": None}, "graded of case case_000 is empty"),
        ({"sample": 0}, "sample 0 is stored twice"),
        ({"case_id": None}, "case_id is None"),
        ({"repetition": 2**70}, "repetition is 1180591620717411303424; a whole number"),
        ({"training_seed": -1}, "training_seed is -1"),
        ({"turns": 5}, "a.jsonl:2: turns is 5; a list of objects"),
        ({"turns": [None]}, "turns is .None.; a list of objects"),
        ({"turns": [{"sampling_seed": "x"}]}, "sampling_seed is 'x'; a whole number"),
    ],
)
def test_damaged_lines_are_refused(tmp_path, change, says):
    rows = evaluations.rollouts(GRADED)
    rows[1] |= change
    with pytest.raises(DataError, match=says):
        load(evaluations.jsonl(tmp_path / "a.jsonl", rows))


def test_what_is_no_evaluation_is_named(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"case_id"')
    (tmp_path / "b.jsonl").write_text("[1]\n")
    (tmp_path / "c.jsonl").write_text("{}\n")
    (tmp_path / "d.jsonl.zst").write_bytes(b"no zstd")
    (tmp_path / "e.csv").write_text("a,b")
    (tmp_path / "empty").mkdir()
    for name, says in {
        "a.jsonl": "a.jsonl:1: no JSON",
        "b.jsonl": "b.jsonl:1: found list",
        "c.jsonl": "c.jsonl:1: case_id is missing",
        "d.jsonl.zst": "damaged or cut off",
        "e.csv": "no layout that is known",
        "empty": "a folder without rollouts.parquet",
        "none.jsonl": "cannot be read",
        "none.json": "cannot be read",
    }.items():
        with pytest.raises(DataError, match=says):
            load(str(tmp_path / name))


def test_what_must_not_be_pooled_is_refused(tmp_path):
    one = evaluations.parquet(tmp_path / "one.parquet", evaluations.rollouts(GRADED))
    other = evaluations.parquet(tmp_path / "other.parquet", evaluations.rollouts(GRADED, arm="dense"))
    copied = evaluations.rollouts(GRADED, repetition=1)
    for row, first in zip(copied, evaluations.rollouts(GRADED), strict=True):
        row["turns"] = first["turns"]
    same = evaluations.parquet(tmp_path / "same.parquet", copied)
    for row in copied:
        row["sample"] = 3 - row["sample"]
    shifted = evaluations.parquet(tmp_path / "shifted.parquet", copied)
    short = evaluations.parquet(tmp_path / "short.parquet", evaluations.rollouts(GRADED[:2], repetition=1))
    wide = evaluations.parquet(tmp_path / "wide.parquet", evaluations.rollouts(GRADED, repetition=1, k=6))
    json_file = evaluations.published(tmp_path / "a.json", GRADED)
    for paths, says in {
        (one, other): "rollouts of the arms dense and sparse; name the files of one arm",
        (one, same): r"repetitions \[0, 1\] drew case case_000 from the same seed",
        (one, shifted): r"repetitions \[0, 1\] drew case case_000 from the same seed",
        (one, one): "one.parquet holds the same bytes as .*one.parquet",
        (one, short): "case case_002 is in .* but not in",
        (one, wide): "4 rollouts, but 6 in",
        (one, json_file): "files of both layouts",
    }.items():
        with pytest.raises(DataError, match=says):
            load(",".join(paths))


def test_a_stopped_run_has_nothing_to_compare(tmp_path):
    with pytest.raises(DataError, match="no rollouts; a stopped run"):
        load(evaluations.parquet(tmp_path / "a.parquet", []))


def test_one_evaluation_under_two_names_is_refused(tmp_path):
    a, b = (load(evaluations.published(tmp_path / f"{name}.json", [1, 2], traces="same")) for name in "ab")
    with pytest.raises(DataError, match="keep the same rollouts in every case: one evaluation under two names"):
        refuse_one_under_two_names(a, b)
    c = load(evaluations.published(tmp_path / "c.json", [1, 2], traces="other"))
    refuse_one_under_two_names(a, c)
    own = load(evaluations.parquet(tmp_path / "own.parquet", evaluations.rollouts(GRADED)))
    with pytest.raises(DataError, match="stored twice"):
        refuse_one_under_two_names(own, own)


def test_unlike_evaluations_are_refused(tmp_path):
    a = load(evaluations.published(tmp_path / "a.json", [1, 2]))
    b = load(evaluations.published(tmp_path / "b.json", [1, 2, 3]))
    c = load(evaluations.published(tmp_path / "c.json", [1, 2], k=4))
    with pytest.raises(DataError, match=r"case case_002 is in run .*b\.json, repetition 0 but not in run .*a\.json"):
        refuse_unlike(a, b)
    with pytest.raises(DataError, match="only evaluations with the same k are compared"):
        refuse_unlike(a, c)
