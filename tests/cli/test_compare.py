import json
from pathlib import Path

import pytest
from stats import evaluations

from tiebreak.cli import main

GLYPH = Path(__file__).parents[3] / "shared" / "data" / "glyph"
published = pytest.mark.skipif(not GLYPH.is_dir(), reason="the published data (../shared/data) is absent")
PAIR = [str(GLYPH / "eval_counts" / f"sparse_run{n}.json") for n in (2, 3)]


def printed(capsys, *arguments):
    """What the command prints, its status being 0."""
    assert main(["compare", *map(str, arguments)]) == 0
    return capsys.readouterr().out


@published
def test_the_published_repetitions(capsys):
    found = json.loads(printed(capsys, *PAIR, "--clusters", GLYPH / "name_families.json", "--json"))
    solved, rates = found["solved"], found["pass_at_1"]
    assert (solved["measure"], solved["delta"], solved["up"], solved["down"]) == ("valid@8", 2, 7, 5)
    assert solved["over_cases"]["p"] == pytest.approx(0.7744, abs=5e-5)
    assert (solved["over_clusters"]["p"], solved["over_clusters"]["units"]) == (0.75, 10)
    assert rates["delta"] == pytest.approx(-0.0058, abs=5e-5)
    assert rates["over_cases"]["p"] == pytest.approx(0.6486, abs=5e-5)
    assert (found["cases"], found["k"], found["noise"]) == (150, 8, None)
    assert [found[side]["solved"] for side in "ab"] == [[96], [98]]
    assert found["clusters"]["source"].startswith(f"name patterns of {GLYPH / 'name_families.json'}")
    assert 0 < rates["detectable"] < 0.2 and 0 < solved["detectable"] < 40


@published
def test_the_published_repetitions_in_words(capsys):
    text = printed(capsys, *PAIR, "--clusters", GLYPH / "name_families.json")
    assert "valid@8, cases of 150: +2 (7 up, 5 down)" in text
    assert "over 150 cases: p = 0.7744 (exact; 12 moved, so at least 0.0005)" in text
    assert "over 10 clusters: p = 0.7500" in text
    assert "pass@1: -0.0058" in text
    assert "noise floor: not known" in text
    assert "records no seeds" in text
    assert "clusters: none" in printed(capsys, *PAIR)


def test_both_layouts_of_ours_are_read(tmp_path, capsys):
    a = evaluations.parquet(tmp_path / "a.parquet", evaluations.rollouts([0, 1, 4]))
    b = evaluations.jsonl(tmp_path / "b.jsonl", evaluations.rollouts([1, 1, 4], arm="dense"))
    found = json.loads(printed(capsys, a, b, "--json"))
    assert (found["outcome"], found["solved"]["delta"], found["clusters"]["count"]) == ("graded", 1, 3)
    assert "graded@4, cases of 3: +1 (1 up, 0 down)" in printed(capsys, a, b)
    assert "valid@4, cases of 3: +0 (0 up, 0 down)" in printed(capsys, a, b, "--outcome", "valid")


def test_what_must_not_be_compared_is_one_line(tmp_path, capsys):
    a = evaluations.published(tmp_path / "a.json", [1, 2])
    for name, values, k in (("short", [1], 8), ("wide", [1, 2], 9)):
        other = evaluations.published(tmp_path / f"{name}.json", values, k=k)
        assert main(["compare", a, other]) == 2
        captured = capsys.readouterr()
        assert captured.out == "" and captured.err.startswith("tiebreak: ") and captured.err.count("\n") == 1


@pytest.mark.parametrize("alpha", ["0", "1", "x"])
def test_an_impossible_level_is_a_usage_error(alpha, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["compare", "a", "b", "--alpha", alpha])
    assert "--alpha" in capsys.readouterr().err
