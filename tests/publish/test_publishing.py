"""A study's whole release: models, dataset, receipt; refused before anything is sent; read back by those who use it."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from hub.server import Hub
from huggingface_hub import snapshot_download
from publish.conftest import OWNER, READER, STRANGER, bodies
from publish.small import remake_manifest, study_of

from tiebreak.digest import file_digest
from tiebreak.errors import HubError
from tiebreak.paths import Paths
from tiebreak.publish import publishing
from tiebreak.publish.access import client
from tiebreak.publish.publishing import check_named, differences, folder_of, lines, publish, targets
from tiebreak.study import Study

REPO = "anna/tiebreak-minute"
RUNS = ["dense-seed0", "sft", "sparse-seed0"]


def requests_that_change(hub: Hub) -> list[str]:
    """What was not only asked."""
    return [f"{method} {path}" for method, path, _ in hub.asked if method != "GET"]


def test_models_go_first_and_the_receipt_names_every_commit(hub: Hub, study: Study, paths: Paths) -> None:
    (folder_of(paths) / ".snakemake_timestamp").touch()  # as Snakemake leaves it in every folder that a rule makes
    receipt = publish(client(), study, paths)
    assert json.loads(publishing.receipt_of(paths).read_text()) == receipt
    assert sorted(receipt["models"]) == RUNS
    for run in RUNS:
        made = receipt["models"][run]
        assert made["repo"] == f"anna/minute-{run}" and made["commit"] == hub.store.head("models", made["repo"]).id
        card = (publishing.cards_of(paths) / run / "README.md").read_bytes()
        assert hub.store.files("models", made["repo"]) == {"README.md": card, "model.safetensors": run.encode()}
    assert receipt["dataset"]["commit"] == hub.store.head("datasets", REPO).id
    assert hub.store.files("datasets", REPO) == bodies(folder_of(paths))
    assert ".snakemake_timestamp" not in hub.store.files("datasets", REPO)
    assert receipt["release"] == file_digest(folder_of(paths) / "manifest.json")
    assert [path for _, path, _ in hub.asked if "/commit/" in path][-1] == f"/api/datasets/{REPO}/commit/main"


def test_a_repeat_changes_nothing_and_says_so(hub: Hub, study: Study, paths: Paths) -> None:
    first = publish(client(), study, paths)
    hub.again()
    again = publish(client(), study, paths)
    assert requests_that_change(hub) == []
    assert again["dataset"] == first["dataset"] | {"changed": False}
    assert publishing.told(again)[-1] == f"{REPO}: nothing to do: {again['dataset']['url']}"


def test_a_release_interrupted_between_repositories_is_finished_by_a_repeat(
    hub: Hub, study: Study, paths: Paths
) -> None:
    publish(client(), study, paths)
    whole = len(hub.asked)
    for number in range(0, whole, 7):
        for folder in (hub.store.folder, publishing.memory_of(paths).path):
            subprocess.run(["rm", "-rf", str(folder)], check=True)
        hub.again()
        hub.down_from = number
        with pytest.raises(HubError, match="the line broke"):
            publish(client(), study, paths)
        if hub.store.exists("datasets", REPO) and hub.store.files("datasets", REPO):
            assert all(hub.store.files("models", f"anna/minute-{run}") for run in RUNS)
        hub.again()
        publish(client(), study, paths)
        assert hub.store.files("datasets", REPO) == bodies(folder_of(paths))


def test_a_dry_run_prints_the_difference_and_sends_nothing(hub: Hub, study: Study, paths: Paths) -> None:
    publish(client(), study, paths)
    (folder_of(paths) / "LICENSE").write_text("another\n")
    remake_manifest(paths, study)
    hub.again()
    found = differences(client(), list(targets(study, paths).values()))
    assert requests_that_change(hub) == []
    shown = list(lines(found, private=True))
    assert shown[0] == f"model anna/minute-sft, private, at {hub.store.head('models', 'anna/minute-sft').id}:"
    assert "  ~ LICENSE (8 bytes)" in shown and "  0 added, 0 changed, 0 removed, 2 unchanged; 0 bytes to send" in shown


def test_a_dry_run_of_a_first_release_lists_all_of_it(hub: Hub, study: Study, paths: Paths) -> None:
    found = differences(client(), list(targets(study, paths).values()))
    shown = list(lines(found, private=True))
    assert shown[0] == "model anna/minute-sft: would be made, private" and "  + model.safetensors (3 bytes)" in shown


def other_weights(paths: Paths) -> None:
    (paths.model("sft") / "model.safetensors").write_bytes(b"another")


def other_file(paths: Paths) -> None:
    (folder_of(paths) / "LICENSE").write_text("edited after the manifest")


def no_file(paths: Paths) -> None:
    (folder_of(paths) / "LICENSE").unlink()


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (no_file, "release/LICENSE: is not what the release's manifest says"),
        (other_weights, r"sft/model/model.safetensors: is not what the release's manifest says"),
        (other_file, "release/LICENSE: is not what the release's manifest says"),
    ],
)
def test_what_is_not_the_release_is_not_sent(
    hub: Hub, study: Study, paths: Paths, spoil: Callable[[Paths], None], words: str
) -> None:
    spoil(paths)
    with pytest.raises(HubError, match=words):
        publish(client(), study, paths)
    assert not hub.asked


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"dataset": None}, "study minute: publish.dataset is null; write owner/name of the dataset"),
        ({"license": None}, "study minute: publish.license is null; name the licence"),
        ({"dataset": "carl/data"}, "carl/data: the token in HF_TOKEN is of anna, who cannot write for carl"),
    ],
)
def test_a_study_that_cannot_be_published_is_refused_before_anything_is_sent(
    hub: Hub, paths: Paths, tmp_path: Path, changes: dict[str, object], words: str
) -> None:
    with pytest.raises(HubError, match=words):
        publish(client(), study_of(tmp_path, **changes), paths)
    assert requests_that_change(hub) == []


def test_a_run_whose_repository_the_hub_forbids_is_named(study: Study) -> None:
    with pytest.raises(HubError, match="study min--ute: run sft: .*; choose another name or publish.models"):
        check_named(study.model_copy(update={"name": "min--ute"}))


@pytest.mark.parametrize("token", [READER, STRANGER, "hf_nobody"])
def test_a_token_without_rights_sends_nothing(
    hub: Hub, study: Study, paths: Paths, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", token)
    with pytest.raises(HubError):
        publish(client(), study, paths)
    assert requests_that_change(hub) == []
    assert not publishing.receipt_of(paths).exists()


def test_a_remote_ahead_of_us_stops_all_repositories_until_its_head_is_named(
    hub: Hub, study: Study, paths: Paths
) -> None:
    hub.store.create("datasets", REPO, private=True)
    head = hub.store.head("datasets", REPO)
    theirs = hub.store.commit("datasets", REPO, head.id, "by hand", {"data.csv": head.tree[".gitattributes"]}).id
    with pytest.raises(HubError, match=rf"dataset {REPO}: the remote is ahead: its main is at {theirs}"):
        publish(client(), study, paths)
    assert requests_that_change(hub) == []
    nothing = "0" * 40
    with pytest.raises(HubError, match=f"--over {nothing}: no repository of this release is there; .* {theirs}"):
        publish(client(), study, paths, over=nothing)
    assert publish(client(), study, paths, over=theirs)["dataset"]["changed"]
    assert "data.csv" not in hub.store.files("datasets", REPO)


def test_snapshot_download_gives_the_release_back(hub: Hub, study: Study, paths: Paths, tmp_path: Path) -> None:
    receipt = publish(client(), study, paths)
    folder = snapshot_download(
        REPO,
        repo_type="dataset",
        revision=receipt["dataset"]["commit"],
        endpoint=hub.endpoint,
        local_dir=tmp_path / "back",
    )
    back = {name: body for name, body in bodies(Path(folder)).items() if not name.startswith((".cache/", ".git"))}
    assert back == bodies(folder_of(paths))


LOAD = """
import json, sys
from datasets import load_dataset
for name in sys.argv[2:]:
    (split, table), = load_dataset(sys.argv[1], name).items()
    print(json.dumps([name, split, len(table), table[0] if len(table) else None]))
"""


def load_all(hub: Hub, repo: str, configs: list[str], home: Path) -> dict[str, tuple[str, int, dict[str, object]]]:
    """What `load_dataset` gives for each config: split, rows, first row; in a process of its own."""
    environment = {"HF_ENDPOINT": hub.endpoint, "HF_TOKEN": OWNER, "HF_HOME": str(home)}
    command = [sys.executable, "-c", LOAD, repo, *configs]
    done = subprocess.run(command, env={"PATH": "", **environment}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {name: (split, rows, first) for name, split, rows, first in map(json.loads, done.stdout.splitlines())}


def test_every_config_of_the_card_loads(hub: Hub, study: Study, paths: Paths, tmp_path: Path) -> None:
    publish(client(), study, paths)
    head = yaml.safe_load((folder_of(paths) / "README.md").read_text().split("---\n")[1])
    configs = [item["config_name"] for item in head["configs"]]
    assert configs == ["results", "rollouts", "training", "cases"]
    loaded = load_all(hub, REPO, configs, tmp_path / "home")
    assert {name: rows for name, (_, rows, _) in loaded.items()} == {
        "results": 1,
        "rollouts": 3,
        "training": 1,
        "cases": 2,
    }
    assert loaded["rollouts"][2]["turns"][0]["sampling_seed"] == 7
    assert json.loads(loaded["cases"][2]["case"])["files"] == {"x": "a"}


def test_building_on_a_full_disk_is_one_clear_error(
    study: Study, paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device", "results/x")

    monkeypatch.setattr(publishing, "build", full)
    with pytest.raises(HubError, match=r"results/x: cannot be written \(No space left on device\); make room"):
        publishing.make_release(study, paths)
