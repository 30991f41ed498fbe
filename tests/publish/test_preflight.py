"""A release that is whole passes; each thing wrong is named by its place."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from publish.small import remake_manifest

from tiebreak import tables
from tiebreak.digest import file_digest
from tiebreak.errors import HubError
from tiebreak.paths import Paths
from tiebreak.publish import findings, manifest, preflight
from tiebreak.publish.packs import write_pack
from tiebreak.publish.preflight import INSIDE, problems
from tiebreak.publish.publishing import cards_of
from tiebreak.publish.release import folder_of
from tiebreak.study import Study
from tiebreak.tables import SFT

Spoil = Callable[[Path], object]


def edit(name: str, old: str, new: str) -> Spoil:
    """Replaces a text in a file."""

    def spoil(release: Path) -> None:
        text = (release / name).read_text(encoding="utf-8")
        assert old in text
        (release / name).write_text(text.replace(old, new, 1), encoding="utf-8")

    return spoil


def table(release: Path) -> None:
    """A table with a token deep in a turn."""
    turn = {"role": "tool", "content": f"env: HF_TOKEN=hf_{'a' * 20}", "loss": False}
    row = {"case_id": "a", "family": "f", "template": "t", "difficulty": "easy", "turns": [turn]}
    tables.write_table(release / "tables/sft.parquet", [row], SFT)


def pack(release: Path) -> None:
    """A pack with a key in it."""
    (release / "key.txt").write_text("-----BEGIN OPENSSH PRIVATE KEY-----\n")
    write_pack(release / "results/logs.zip", release, ["key.txt"])
    (release / "key.txt").unlink()


SPOILED: dict[str, tuple[Spoil, str]] = {
    "typed number": (
        edit("README.md", "graded pass@1 0.", "graded pass@1 1."),
        r"README.md:\d+: says .* the artifacts say .*; make the release again",
    ),
    "other analysis": (edit("results/stats/analysis.json", '"alpha": 0.05', '"alpha": 0.01'), r"README.md:\d+: says"),
    "other config": (
        edit("README.md", "path: tables/cases.parquet", "path: tables/none.parquet"),
        "README.md: config cases names tables/none.parquet, which is not in the release",
    ),
    "link without file": (
        lambda release: (release / "results/report.zip").unlink(),
        "results/report/index.html: names results/report/tables/arms.csv, which is not in the release",
    ),
    "figure gone": (lambda release: (release / "results/report/figures/forest.svg").unlink(), "README.md:"),
    "token of the hub": (edit("LICENSE", "cc", f"hf_{'b' * 30} cc"), r"LICENSE: holds a token of the hub \(hf_bbb…\)"),
    "token of GitHub": (edit("LICENSE", "cc", f"ghp_{'b' * 36} cc"), "LICENSE: holds a token of GitHub"),
    "key of AWS": (edit("records.jsonl", "2026-01-01", "AKIA" + "Z" * 16), "records.jsonl: holds a key of AWS"),
    "password": (edit("LICENSE", "cc", "ftp://me:pass@host cc"), "LICENSE: holds a password in an address"),
    "token in a table": (table, r"tables/sft.parquet: holds a token of the hub \(hf_aaa…\)"),
    "key in a pack": (pack, r"results/logs.zip!key.txt: holds a private key"),
    "machine path": (
        edit("records.jsonl", '"h"', '"h", "x": "/home/anna/x"'),
        "records.jsonl: holds /home/anna, a path of somebody's machine",
    ),
    "placeholder": (edit("LICENSE", "cc", "TODO cc"), "LICENSE: holds the placeholder 'TODO'"),
    "template": (edit("LICENSE", "cc", "{{ licence }} cc"), r"LICENSE: holds the placeholder '\{\{ licence \}\}'"),
    "no licence": (edit("study.json", '"license": "cc-by-4.0"', '"license": null'), "study: publish.license is null"),
}


def test_a_whole_release_may_leave(paths: Paths, tmp_path: Path) -> None:
    assert problems(paths, tmp_path) == []


@pytest.mark.parametrize("name", SPOILED)
def test_what_is_wrong_is_named(paths: Paths, tmp_path: Path, name: str) -> None:
    spoil, expected = SPOILED[name]
    spoil(folder_of(paths))
    found = "\n".join(problems(paths, tmp_path))
    assert re.search(expected, found), found


def test_a_model_s_card_is_looked_at(paths: Paths, tmp_path: Path) -> None:
    edit("sft/README.md", "## Licence", "TBD")(cards_of(paths))
    assert problems(paths, tmp_path) == ["model card sft/README.md: holds the placeholder 'TBD'"]


def test_what_goes_with_a_model_s_weights_is_looked_at(paths: Paths, study: Study) -> None:
    told = {"base_model_name_or_path": "/home/anna/models/x", "hub_token": f"hf_{'a' * 20}"}
    config = paths.model("dense-seed0") / "adapter_config.json"
    config.write_text(json.dumps(told), encoding="utf-8")
    models = dict(manifest.read(folder_of(paths)).models)
    models["dense-seed0"] = {**models["dense-seed0"], "files": {config.name: file_digest(config)}}
    remake_manifest(paths, study, models)
    assert problems(paths, paths.results) == [
        "model of dense-seed0: adapter_config.json: holds a token of the hub (hf_aaa…); take it out and revoke it",
        "model of dense-seed0: adapter_config.json: holds /home/anna, a path of somebody's machine; " + INSIDE,
    ]


def test_a_path_in_what_a_model_wrote_counts_if_it_is_this_machine_s(
    paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "results/audits/audits.json"
    (folder_of(paths) / name).parent.mkdir()
    (folder_of(paths) / name).write_text('{"path": "/home/model/x and /home/anna/work/y"}')
    assert problems(paths, tmp_path) == []
    monkeypatch.setenv("HOME", "/home/anna")
    assert problems(paths, tmp_path) == [f"{name}: holds /home/anna, a path of somebody's machine; {INSIDE}"]


def test_the_very_token_is_found_whatever_it_looks_like(
    paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "correct horse")
    edit("records.jsonl", '"h"', '"correct horse"')(folder_of(paths))
    assert problems(paths, tmp_path) == ["records.jsonl: holds the token in HF_TOKEN; take it out and revoke it"]


def test_the_repository_s_own_documents_are_looked_at(paths: Paths, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("[a](docs/none.md) [b](docs/there.md)")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/there.md").write_text("")
    assert problems(paths, tmp_path) == ["README.md: links to docs/none.md, which is not there"]


def test_this_repository_may_stand_beside_a_release(paths: Paths) -> None:
    assert problems(paths, Path()) == []


def test_a_release_with_problems_is_not_published(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    preflight.require_fit(paths)
    (folder_of(paths) / "LICENSE").write_text("FIXME", encoding="utf-8")
    with pytest.raises(HubError, match=r"is not fit to be published \(1 problems\):\nLICENSE: holds the placeholder"):
        preflight.require_fit(paths)


@pytest.mark.parametrize(
    ("value", "places"),
    [({"a": [{"b": "ask"}], "c": "asked"}, ["a.0.b"]), ({"data": {"revision": "ask"}}, ["data.revision"])],
)
def test_open_questions_are_found_by_their_place(value: object, places: list[str]) -> None:
    assert list(findings.questions(value)) == places


@pytest.mark.parametrize(
    ("text", "name", "found"),
    [
        ("[a](x.md#part) ![b](./y/z.svg)", "README.md", ["x.md", "y/z.svg"]),
        ("[a](#part) [b](ftp://h/x) [c](/anna/model) [d](mailto:a@b)", "README.md", []),
        (
            "<a href=\"viewer.html#arm=x\"><img src='../f.svg'>",
            "results/report/index.html",
            ["results/report/viewer.html", "results/f.svg"],
        ),
        ("[a](../../out.md)", "docs/a.md", ["../out.md"]),
    ],
)
def test_links_are_paths_from_the_root(text: str, name: str, found: list[str]) -> None:
    assert list(findings.links(text, name)) == found


@pytest.mark.parametrize("before", ["src", "results", "https://h", "."])
@pytest.mark.parametrize("folder", ["tmp", "home", "root"])
def test_what_only_looks_like_a_path_of_a_machine_is_none(before: str, folder: str) -> None:
    assert list(findings.machine_paths(f"{before}/{folder}/x")) == []
    assert list(findings.machine_paths(f"see /{folder} for more")) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("x hf_abcdefghijklmnop", ["a token of the hub"]),
        ("github_pat_" + "a" * 22, ["a token of GitHub"]),
        ("(gho_" + "a" * 36 + ")", ["a token of GitHub"]),
        ("ASIA" + "A1" * 8, ["a key of AWS"]),
        ("key=sk-" + "a-" * 12, ["a key of an endpoint"]),
        ("-----BEGIN PRIVATE KEY-----", ["a private key"]),
        ("git clone scheme://me:secret@host/x", ["a password in an address"]),
        ("risk-" + "a" * 30 + " hf_short see scheme://host:80/@x MEDIA1234567890123456", []),
    ],
)
def test_secrets_are_known_by_their_form(text: str, found: list[str]) -> None:
    assert [what for what, _ in findings.secrets(text)] == found
