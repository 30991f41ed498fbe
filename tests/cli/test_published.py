import json
from pathlib import Path

import pytest
from stats import evaluations

from tiebreak.cli import main

GLYPH = Path(__file__).parents[3] / "shared" / "data" / "glyph"
published = pytest.mark.skipif(not GLYPH.is_dir(), reason="the published data (../shared/data) is absent")


def printed(capsys, *arguments):
    """What the command prints, its status being 0."""
    assert main(["published", *map(str, arguments)]) == 0
    return capsys.readouterr().out


@published
def test_the_two_published_repetitions_side_by_side(capsys):
    text = printed(capsys, GLYPH / "eval_counts", "--families", GLYPH / "name_families.json")
    line = next(line for line in text.splitlines() if line.strip().startswith("sparse_run3 − sparse_run2"))
    cells = line.split()[3:]
    assert cells[:3] == ["+2", "7", "5"]
    theirs, ours, theirs_families, ours_families = map(float, cells[3:])
    assert (ours, ours_families) == (0.7744, 0.75)
    assert abs(theirs - ours) < 0.012 and abs(theirs_families - ours_families) < 0.013
    assert "counts only" in text
    found = json.loads(printed(capsys, GLYPH / "eval_counts", "--json"))
    assert found["repetitions"][0]["theirs"]["p_cases"] == pytest.approx(theirs, abs=6e-5)
    assert [row["solved"] for row in found["arms"]["sparse"]] == [96, 98]


def test_all_parts_are_printed(tmp_path, capsys):
    for arm, place, values in (
        ("SFT_HALF_A_V8", "evals/passk8_heldout150", [0, 2, 8]),
        ("SFT_HALF_A_V8", "evals/seeds/sft_seed1", [0, 3, 8]),
        ("RLVR_VFINAL_STEP10", "evals/passk8_heldout150", [4, 2, 8]),
    ):
        evaluations.published(tmp_path / arm / f"{place}.json", values)
    text = printed(capsys, tmp_path)
    assert "dense − sft in pass@1 by band of the first repetition of sft" in text
    assert "not in the folder: SFT_HALF_A_V8/evals/seeds/sft_seedB.json" in text
    pooled = text[text.index("repetitions pooled") :].splitlines()[2]
    assert pooled.split()[-4::2] == ["–", "–"], "their way knows only arms with equally many repetitions"


def test_the_hub_is_asked_for_one_revision(tmp_path, capsys, monkeypatch):
    folder = tmp_path / ("ab" * 20)
    evaluations.published(folder / "a_run1.json", [1, 2])
    asked = {}

    def snapshot_download(name, **options):
        asked.update(options, name=name)
        return str(folder)

    monkeypatch.setattr("huggingface_hub.snapshot_download", snapshot_download)
    found = json.loads(printed(capsys, "owner/name", "--revision", "main", "--json"))
    assert asked == {"name": "owner/name", "repo_type": "dataset", "revision": "main", "allow_patterns": ["*.json"]}
    assert (found["source"], found["commit"]) == ("owner/name", "ab" * 20)


def test_the_hub_says_no_in_one_line(capsys, monkeypatch, tmp_path):
    def snapshot_download(name, **options):
        raise OSError("no way there")

    monkeypatch.setattr("huggingface_hub.snapshot_download", snapshot_download)
    assert main(["published", "owner/name", "--revision", "abc"]) == 2
    assert capsys.readouterr().err == (
        "tiebreak: dataset owner/name at abc: no way there; name a folder with a copy instead\n"
    )
    assert main(["published", str(tmp_path), "--revision", "abc"]) == 2
    assert "is a folder here" in capsys.readouterr().err


def test_a_folder_without_evaluations_is_named(tmp_path, capsys):
    assert main(["published", str(tmp_path)]) == 2
    assert "no evaluation below it" in capsys.readouterr().err
