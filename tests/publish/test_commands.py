"""`tiebreak publish` and `tiebreak preflight`, as a user calls them."""

import json

import pytest
from hub.server import Hub
from publish.conftest import OWNER

from tiebreak.cli import main
from tiebreak.paths import Paths
from tiebreak.publish.release import folder_of


@pytest.fixture(autouse=True)
def here(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder above the results, where a user stands."""
    monkeypatch.chdir(paths.results.parent)


def said(capsys: pytest.CaptureFixture[str]) -> str:
    shown = capsys.readouterr()
    return shown.out + shown.err


def test_a_dry_run_then_the_release_then_nothing(hub: Hub, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["publish", "--study", "minute.yaml", "--dry-run"]) == 0
    assert "dataset anna/tiebreak-minute: would be made, private\n  + LICENSE (10 bytes)\n" in said(capsys)
    assert not hub.store.exists("datasets", "anna/tiebreak-minute")
    assert main(["publish", "--study", "minute.yaml"]) == 0
    head = hub.store.head("datasets", "anna/tiebreak-minute").id
    assert f"anna/tiebreak-minute: published: {hub.endpoint}/datasets/anna/tiebreak-minute/tree/{head}" in said(capsys)
    assert main(["publish", "--study", "minute.yaml", "--dry-run", "--json"]) == 0
    plans = json.loads(capsys.readouterr().out)
    assert [item["added"] | item["changed"] | item["removed"] for item in plans] == [{}] * 4
    assert plans[-1]["head"] == head
    assert main(["publish", "--study", "minute.yaml", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["dataset"]["changed"] is False


def test_a_release_that_is_not_fit_is_not_published(hub: Hub, paths: Paths, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["preflight", "--study", "minute.yaml"]) == 0
    assert said(capsys) == "0 problems\n"
    (folder_of(paths) / "LICENSE").write_text(f"TODO {OWNER}")
    assert main(["preflight", "--study", "minute.yaml", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [line.split(";")[0] for line in found] == [
        "LICENSE: holds the token in HF_TOKEN",
        "LICENSE: holds a token of the hub (hf_own…)",
        "LICENSE: holds the placeholder 'TODO'",
    ]
    assert main(["publish", "--study", "minute.yaml"]) == 2
    text = said(capsys)
    assert "is not fit to be published (3 problems)" in text and OWNER not in text
    assert not hub.asked


def test_without_a_release_both_say_how_it_is_made(hub: Hub, paths: Paths, capsys: pytest.CaptureFixture[str]) -> None:
    folder_of(paths).rename("elsewhere")
    for command in (["preflight"], ["publish", "--dry-run"], ["publish"]):
        assert main([*command, "--study", "minute.yaml"]) == 2
        assert "snakemake --cores all release" in said(capsys)
    assert not hub.asked
